// expect: nothing
// A table is written under the write lock of a ReaderWriterLockSlim, and read under its read lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var gate = new ReaderWriterLockSlim();
        var table = new Dictionary<int, int>();
        var one = Task.Run(() => {
            for (int i = 0; i < 40; i++) {
                gate.EnterWriteLock();
                try { table[i] = i; } finally { gate.ExitWriteLock(); }
                Thread.Sleep(3);
            }
        });
        var two = Task.Run(() => {
            for (int i = 0; i < 40; i++) {
                gate.EnterReadLock();
                try { table.TryGetValue(i, out _); } finally { gate.ExitReadLock(); }
                Thread.Sleep(3);
            }
        });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
