// expect: nothing
// Two threads make longer copies of an array, sort them, and publish them without a lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static int[] all = new int[8];
    static void Insert(int item) {
        int[] old, copy;
        do {
            old = copy = Volatile.Read(ref all);
            Array.Resize(ref copy, copy.Length + 1);
            copy[copy.Length - 1] = item;
            Array.Sort(copy);
        } while (Interlocked.CompareExchange(ref all, copy, old) != old);
    }
    static void First(int i) => Insert(i);
    static void Second(int i) => Insert(-i);

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
