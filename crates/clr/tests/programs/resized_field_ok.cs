// expect: nothing
// A writer resizes the array of a field under a lock; a reader searches the one that it got.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly object gate = new object();
    static string[] all = new string[] { "a" };
    static void First(int i) {
        lock (gate) Array.Resize(ref all, all.Length + 1);
    }
    static void Second(int i) {
        string[] mine = all;
        Array.IndexOf(mine, "c");
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
