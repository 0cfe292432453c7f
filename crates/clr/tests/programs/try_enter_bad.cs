// Goes on although it did not get the lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly object guard = new object();
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            bool got = false;
            Monitor.TryEnter(guard, 0, ref got);
            Thread.Sleep(1);
            list.Add(i);    // expect: thread-safety-violation
            if (got) Monitor.Exit(guard);
            Thread.Sleep(1);
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
