// expect: nothing
// A lock of one word.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static int guard;
    static readonly Dictionary<int, int> map = new Dictionary<int, int>();

    static void Work() {
        for (int i = 0; i < 40; i++) {
            while (Interlocked.CompareExchange(ref guard, 1, 0) != 0) Thread.Yield();
            map[i] = i;
            Volatile.Write(ref guard, 0);
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
