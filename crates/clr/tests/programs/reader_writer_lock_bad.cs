// Writes under the lock of readers.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ReaderWriterLock guard = new ReaderWriterLock();
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            guard.AcquireReaderLock(-1);
            list.Add(i);    // expect: thread-safety-violation
            guard.ReleaseReaderLock();
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
