// A delegate leaves the lock before the list is used.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly object guard = new object();
    static readonly Action<object> leave = Monitor.Exit;
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            Monitor.Enter(guard);
            leave(guard);
            list.Add(i);    // expect: thread-safety-violation
            Thread.Sleep(3);
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
