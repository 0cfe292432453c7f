// expect: nothing
// A list is sorted twice while it is read, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int> { 3, 1, 2 };
    static int found;

    static void First(int i) {
        lock (gate) {
            list.Sort();
        }
    }

    static void Second(int i) {
        lock (gate) {
            found = list.IndexOf(2);
        }
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 2; i++) { First(i); Thread.Sleep(25); } });
        var two = new Thread(() => { for (int i = 0; i < 2; i++) { Second(i); Thread.Sleep(25); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
