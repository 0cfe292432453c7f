// expect: nothing
// Two threads upgrade before they write; a third reads.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);
    static void First(int i) {
        gate.EnterUpgradeableReadLock();
        try {
            if (table.ContainsKey(i)) return;
            gate.EnterWriteLock();
            try { table[i] = i; } finally { gate.ExitWriteLock(); }
            table.ContainsKey(i);
        } finally { gate.ExitUpgradeableReadLock(); }
        gate.EnterReadLock();
        table.ContainsKey(i);
        gate.ExitReadLock();
    }
    static void Second(int i) => First(-i);

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
