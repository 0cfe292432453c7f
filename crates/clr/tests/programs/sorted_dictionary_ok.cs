// expect: nothing
// Readers and writers of a sorted table take a lock for readers and writers.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static readonly SortedDictionary<int, int> table = new SortedDictionary<int, int> { [-1] = 0 };

    static void First(int i) {
        gate.EnterWriteLock();
        try { table[i] = i; } finally { gate.ExitWriteLock(); }
    }

    static void Second(int i) {
        gate.EnterReadLock();
        try { table.TryGetValue(i, out _); } finally { gate.ExitReadLock(); }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
