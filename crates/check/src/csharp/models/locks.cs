// Exclusive locks and reader-writer locks.
public static class Monitor {
    public static void Enter(object o) { __raddle.LockStatic(o, 1); __raddle.Lock(o); }
    public static void Enter(object o, ref bool taken) { __raddle.LockStatic(o, 1); __raddle.Lock(o); taken = true; }
    public static void Exit(object o) { __raddle.Unlock(o); }
    public static bool TryEnter(object o) { __raddle.LockStatic(o, 1); return __raddle.TryLock(o) == 0; }
    public static bool TryEnter(object o, object timeout) { __raddle.LockStatic(o, 1); return __raddle.TimedLock(o) == 0; }
    public static void TryEnter(object o, ref bool taken) { taken = TryEnter(o); }
    public static void TryEnter(object o, object timeout, ref bool taken) { taken = TryEnter(o, timeout); }
    public static bool Wait(object o) { __raddle.Wait(o, o); return true; }
    public static bool Wait(object o, object timeout) { return __raddle.TimedWait(o, o) == 0; }
    public static void Pulse(object o) { __raddle.NotifyOne(o); }
    public static void PulseAll(object o) { __raddle.NotifyAll(o); }
    public static bool IsEntered(object o) { return __raddle.Holds(o) != 0; }
}
public class Lock {
    public void Enter() { __raddle.LockStatic(this, 1); __raddle.Lock(this); }
    public void Exit() { __raddle.Unlock(this); }
    public bool TryEnter() { __raddle.LockStatic(this, 1); return __raddle.TryLock(this) == 0; }
    public bool TryEnter(object timeout) { __raddle.LockStatic(this, 1); return __raddle.TimedLock(this) == 0; }
    public __LockScope EnterScope() { Enter(); return new __LockScope(this); }
}
public class __LockScope { Lock of; public __LockScope(Lock l) { of = l; } public void Dispose() { of.Exit(); } }
public class WaitHandle : IDisposable {
    public virtual bool WaitOne() { return __raddle.Unknown(); }
    public virtual bool WaitOne(object timeout) { return __raddle.Unknown(); }
    public bool WaitOne(object timeout, bool exit) { return WaitOne(timeout); }
    public virtual bool __TryTake() { return __raddle.Unknown(); }
    public void Close() { }
    public void Dispose() { }
    public static bool WaitAll(WaitHandle[] all) { for (int i = 0; i < all.Length; i++) all[i].WaitOne(); return true; }
    public static bool WaitAll(WaitHandle[] all, object timeout) { for (int i = 0; i < all.Length; i++) all[i].WaitOne(); return true; }
    public static int WaitAny(WaitHandle[] all) {
        while (true) {
            for (int i = 0; i < all.Length; i++) { if (all[i].__TryTake()) return i; }
            __raddle.Sleep();
        }
    }
    public static int WaitAny(WaitHandle[] all, object timeout) {
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < all.Length; i++) { if (all[i].__TryTake()) return i; }
            __raddle.Sleep();
        }
        return 258;
    }
}
public class Mutex : WaitHandle {
    public Mutex() { }
    public Mutex(bool owned) { if (owned) WaitOne(); }
    public Mutex(bool owned, string name) { if (owned) WaitOne(); }
    // Another process may have created it.
    public Mutex(bool owned, string name, out bool createdNew) {
        createdNew = __raddle.Choose(0, 1) != 0;
        if (owned && createdNew) WaitOne();
    }
    public override bool WaitOne() { __raddle.LockStatic(this, 1); __raddle.Lock(this); return true; }
    public override bool WaitOne(object timeout) { __raddle.LockStatic(this, 1); return __raddle.TimedLock(this) == 0; }
    public override bool __TryTake() { __raddle.LockStatic(this, 1); return __raddle.TryLock(this) == 0; }
    public void ReleaseMutex() { __raddle.Unlock(this); }
}
public struct SpinLock {
    public void Enter(ref bool taken) { __raddle.Lock(this); taken = true; }
    public void TryEnter(ref bool taken) { taken = __raddle.TryLock(this) == 0; }
    public void Exit() { __raddle.Unlock(this); }
    public void Exit(bool fence) { __raddle.Unlock(this); }
}
public class SemaphoreSlim : IDisposable {
    public SemaphoreSlim(int n) { __raddle.SemInit(this, n); }
    public SemaphoreSlim(int n, int most) { __raddle.SemInit(this, n); }
    public void Wait() { __raddle.SemWait(this); }
    public bool Wait(object timeout) { if (timeout is CancellationToken) { __raddle.SemWait(this); return true; } return __raddle.SemTimedWait(this) == 0; }
    public bool Wait(object timeout, object token) { return __raddle.SemTimedWait(this) == 0; }
    public Task<bool> WaitAsync() { return __Later(); }
    public Task<bool> WaitAsync(object a) { return __Later(); }
    public Task<bool> WaitAsync(object a, object b) { return __Later(); }
    Task __Later() {
        Task t = new Task();
        if (__raddle.SemTryWait(this) == 0) { t.__Finish(true); return t; }
        t.__Begin(() => { __raddle.SemWait(this); return true; }, null);
        return t;
    }
    public int Release() { __raddle.SemPost(this); return __raddle.Unknown(); }
    public int Release(int n) { for (int i = 0; i < n; i++) __raddle.SemPost(this); return __raddle.Unknown(); }
    public int CurrentCount => __raddle.SemValue(this);
    public void Dispose() { }
}
public class Semaphore : WaitHandle {
    public Semaphore(int n, int most) { __raddle.SemInit(this, n); }
    public Semaphore(int n, int most, string name) { __raddle.SemInit(this, n); }
    public override bool WaitOne() { __raddle.SemWait(this); return true; }
    public override bool WaitOne(object timeout) { return __raddle.SemTimedWait(this) == 0; }
    public override bool __TryTake() { return __raddle.SemTryWait(this) == 0; }
    public int Release() { __raddle.SemPost(this); return __raddle.Unknown(); }
    public int Release(int n) { for (int i = 0; i < n; i++) __raddle.SemPost(this); return __raddle.Unknown(); }
}
// A separate lock excludes writers and the one upgradeable reader from each other.
public class ReaderWriterLockSlim : IDisposable {
    object upgradeable = new object();
    public ReaderWriterLockSlim() { }
    public ReaderWriterLockSlim(object policy) { }
    public void EnterReadLock() { __raddle.ReadLock(this); }
    public bool TryEnterReadLock(object timeout) { return __raddle.TryReadLock(this) == 0; }
    public void ExitReadLock() { __raddle.RwUnlock(this); }
    public void EnterWriteLock() { __raddle.LockStatic(upgradeable, 1); __raddle.Lock(upgradeable); __raddle.LockStatic(this, 1); __raddle.WriteLock(this); }
    public bool TryEnterWriteLock(object timeout) {
        __raddle.LockStatic(upgradeable, 1);
        if (__raddle.TryLock(upgradeable) != 0) return false;
        if (__raddle.TryWriteLock(this) == 0) return true;
        __raddle.Unlock(upgradeable);
        return false;
    }
    public void ExitWriteLock() { __raddle.RwUnlock(this); __raddle.Unlock(upgradeable); }
    public void EnterUpgradeableReadLock() { __raddle.LockStatic(upgradeable, 1); __raddle.Lock(upgradeable); }
    public void ExitUpgradeableReadLock() { __raddle.Unlock(upgradeable); }
    public void Dispose() { }
}
public class ReaderWriterLock {
    public void AcquireReaderLock(object timeout) { __raddle.ReadLock(this); }
    public void ReleaseReaderLock() { __raddle.RwUnlock(this); }
    public void AcquireWriterLock(object timeout) { __raddle.LockStatic(this, 1); __raddle.WriteLock(this); }
    public void ReleaseWriterLock() { __raddle.RwUnlock(this); }
    public void ReleaseLock() { __raddle.RwUnlock(this); }
}
