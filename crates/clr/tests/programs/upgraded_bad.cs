// One thread writes under the upgradeable lock only, while another reads.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);
    static void First(int i) {
        gate.EnterUpgradeableReadLock();
        try {
            table[i] = i;    // expect: thread-safety-violation
        } finally { gate.ExitUpgradeableReadLock(); }
    }
    static void Second(int i) {
        gate.EnterReadLock();
        try {
            table.ContainsKey(i);    // expect: thread-safety-violation
        } finally { gate.ExitReadLock(); }
    }

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
