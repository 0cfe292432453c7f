// A delegate leaves the lock of a writer before the list is used.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim guard = new ReaderWriterLockSlim();
    static readonly Action leave = guard.ExitWriteLock;
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            guard.EnterWriteLock();
            leave();
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
