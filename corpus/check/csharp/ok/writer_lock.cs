// It is written under the lock of writers.
using System.Threading;

class Cache {
    readonly ReaderWriterLockSlim rw = new ReaderWriterLockSlim();
    int value;
    public int Get() {
        rw.EnterReadLock();
        try { return value; } finally { rw.ExitReadLock(); }
    }
    public void Set(int v) {
        rw.EnterWriteLock();
        try { value = v; } finally { rw.ExitWriteLock(); }
    }
}
class Program {
    static void Main() {
        var cache = new Cache();
        var t = new Thread(() => cache.Set(1));
        t.Start();
        cache.Get();
        t.Join();
    }
}
