// Events, countdowns and barriers.
public class EventWaitHandle : WaitHandle {
    public bool __done; bool auto;
    public EventWaitHandle(bool set, EventResetMode mode) { auto = mode == EventResetMode.AutoReset; __Set(set); }
    public EventWaitHandle(bool set, EventResetMode mode, string name) { auto = mode == EventResetMode.AutoReset; __Set(set); }
    void __Set(bool set) { if (auto) __raddle.SemInit(this, set ? 1 : 0); else __done = set; }
    public bool Set() {
        if (auto) { if (__raddle.SemValue(this) == 0) __raddle.SemPost(this); else __raddle.Publish(this); return true; }
        __raddle.Publish(this);
        __done = true;
        __raddle.NotifyAll(this);
        return true;
    }
    public bool Reset() { if (auto) __raddle.SemTryWait(this); else __done = false; return true; }
    public override bool WaitOne() { if (auto) __raddle.SemWait(this); else __raddle.Until(this); return true; }
    public override bool WaitOne(object timeout) {
        if (TimeSpan.__Milliseconds(timeout) == -1) return WaitOne();
        if (auto) return __raddle.SemTimedWait(this) == 0;
        return __raddle.UntilTimed(this);
    }
    public override bool __TryTake() { if (auto) return __raddle.SemTryWait(this) == 0; if (__done) __raddle.Learn(this); return __done; }
}
public enum EventResetMode { AutoReset, ManualReset }
public class AutoResetEvent : EventWaitHandle { public AutoResetEvent(bool set) : base(set, EventResetMode.AutoReset) { } }
public class ManualResetEvent : EventWaitHandle { public ManualResetEvent(bool set) : base(set, EventResetMode.ManualReset) { } }
public class ManualResetEventSlim : IDisposable {
    public bool __done;
    public ManualResetEventSlim() { }
    public ManualResetEventSlim(bool set) { __done = set; }
    public ManualResetEventSlim(bool set, int spin) { __done = set; }
    public void Set() { __raddle.Publish(this); __done = true; __raddle.NotifyAll(this); }
    public void Reset() { __done = false; }
    public void Wait() { __raddle.Until(this); }
    public bool Wait(object timeout) { if (timeout is CancellationToken) { __raddle.Until(this); return true; } return __raddle.UntilTimed(this); }
    public bool Wait(object timeout, object token) { return __raddle.UntilTimed(this); }
    public bool IsSet { get { if (__done) __raddle.Learn(this); return __done; } }
    public void Dispose() { }
}
public class CountdownEvent : IDisposable {
    public bool __done; long left; long first;
    public CountdownEvent(int n) { left = n; first = n; if (n == 0) __done = true; }
    public bool Signal() { return Signal(1); }
    public bool Signal(int n) {
        __raddle.Publish(this);
        long before = __raddle.Add(ref left, 0 - n);
        if (before - n > 0) return false;
        __done = true;
        __raddle.NotifyAll(this);
        return true;
    }
    public void AddCount() { __raddle.Add(ref left, 1); }
    public void AddCount(int n) { __raddle.Add(ref left, n); }
    public bool TryAddCount() { if (__done) return false; __raddle.Add(ref left, 1); return true; }
    public void Reset() { left = first; __done = false; }
    public void Reset(int n) { left = n; __done = false; }
    public void Wait() { __raddle.Until(this); }
    public bool Wait(object timeout) { if (timeout is CancellationToken) { __raddle.Until(this); return true; } return __raddle.UntilTimed(this); }
    public bool IsSet { get { if (__done) __raddle.Learn(this); return __done; } }
    public long CurrentCount => __raddle.AtomicLoad(ref left);
    public void Dispose() { }
}
public class Barrier : IDisposable {
    object second = new object(); Delegate action; int n;
    public long CurrentPhaseNumber;
    public Barrier(int n) { this.n = n; __raddle.BarrierInit(this, n); }
    public Barrier(int n, Delegate f) { this.n = n; action = f; __raddle.BarrierInit(this, n); __raddle.BarrierInit(second, n); }
    public void SignalAndWait() {
        int last = __raddle.BarrierWait(this);
        if (action != null) { if (last == 1) action(this); __raddle.BarrierWait(second); }
    }
    public bool SignalAndWait(object timeout) { SignalAndWait(); return true; }
    public long AddParticipant() { n = n + 1; __raddle.BarrierInit(this, n); __raddle.BarrierInit(second, n); return 0; }
    public void RemoveParticipant() { n = n - 1; __raddle.BarrierInit(this, n); __raddle.BarrierInit(second, n); }
    public void Dispose() { }
}
