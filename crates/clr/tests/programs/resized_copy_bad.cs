// One thread makes a longer copy of an array that another reverses.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly int[] all = new int[1000];
    static void First(int i) {
        Array.Reverse(all);                      // expect: thread-safety-violation
    }
    static void Second(int i) {
        int[] copy = all;
        Array.Resize(ref copy, copy.Length + 1); // expect: thread-safety-violation
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
