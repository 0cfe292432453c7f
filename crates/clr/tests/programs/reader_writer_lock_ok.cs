// expect: nothing
// The older lock of readers and writers.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ReaderWriterLock guard = new ReaderWriterLock();
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            guard.AcquireWriterLock(-1);
            list.Add(i);
            guard.ReleaseWriterLock();
            guard.AcquireReaderLock(-1);
            list.Contains(3);
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
