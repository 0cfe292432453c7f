// The upgradeable lock is upgraded before the write.
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static int value;
    static void Read() {
        gate.EnterReadLock();
        int seen = value;
        gate.ExitReadLock();
    }
    static void Main() {
        var thread = new Thread(Read);
        thread.Start();
        gate.EnterUpgradeableReadLock();
        if (value == 0) {
            gate.EnterWriteLock();
            value = 1;
            gate.ExitWriteLock();
        }
        gate.ExitUpgradeableReadLock();
        thread.Join();
    }
}
