// A field is written under the lock of readers.
using System.Threading;

class Cache {
    readonly ReaderWriterLockSlim rw = new ReaderWriterLockSlim();
    int value;
    public int Get() {
        rw.EnterReadLock();
        try { return value; } finally { rw.ExitReadLock(); } // expect: data-race #1
    }
    public void Set(int v) {
        rw.EnterReadLock();
        try { value = v; } finally { rw.ExitReadLock(); } // expect: data-race #1
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
