// Holding the upgradeable lock, others may still read.
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static int value;
    static void Read() {
        gate.EnterReadLock();
        int seen = value; // expect: data-race read #1
        gate.ExitReadLock();
    }
    static void Main() {
        var thread = new Thread(Read);
        thread.Start();
        gate.EnterUpgradeableReadLock();
        if (value == 0) value = 1; // expect: data-race write #1
        gate.ExitUpgradeableReadLock();
        thread.Join();
    }
}
