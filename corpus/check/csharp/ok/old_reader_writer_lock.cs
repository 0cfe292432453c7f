// Two threads write, both as writers; one upgrades.
using System.Threading;

class Program {
    static readonly ReaderWriterLock gate = new ReaderWriterLock();
    static int value;
    static void Add() {
        gate.AcquireWriterLock(Timeout.Infinite);
        try { value++; } finally { gate.ReleaseWriterLock(); }
    }
    static void Main() {
        var thread = new Thread(Add);
        thread.Start();
        Add();
        gate.AcquireReaderLock(-1);
        LockCookie cookie = gate.UpgradeToWriterLock(-1);
        value++;
        gate.DowngradeFromWriterLock(ref cookie);
        gate.ReleaseReaderLock();
        thread.Join();
    }
}
