// Timers tick on threads of their own, once or several times. A timer of unknown period ticks once.
namespace System.Threading {
    public class Timer : IDisposable {
        Delegate callback; object state;
        public Timer(Delegate f) { callback = f; }
        public Timer(Delegate f, object s, object due, object period) { callback = f; state = s; Change(due, period); }
        public bool Change(object due, object period) {
            __raddle.TimerStop(this);
            if (TimeSpan.__Milliseconds(due) == -1) return true;
            long p = TimeSpan.__Milliseconds(period);
            Delegate f = callback;
            object s = state;
            Delegate tick = () => { f(s); };
            __raddle.TimerStart(this, __raddle.Function(tick), tick, __raddle.IsKnown(p) && p > 0 ? 1 : 0);
            return true;
        }
        public void Dispose() { __raddle.TimerEnd(this); }
        public void Dispose(object h) { __raddle.TimerStop(this); }
        public Task DisposeAsync() { __raddle.TimerStop(this); return Task.CompletedTask; }
    }
}
// Its ticks follow each other, because the program asks for each one.
public class PeriodicTimer : IDisposable {
    int disposed;
    public PeriodicTimer(object period) { }
    public ValueTask<bool> WaitForNextTickAsync() {
        Task t = new Task();
        t.__Begin(() => { __raddle.Sleep(); return __raddle.AtomicLoad(ref disposed) == 0; }, null);
        return t;
    }
    public ValueTask<bool> WaitForNextTickAsync(object token) { return WaitForNextTickAsync(); }
    public void Dispose() { __raddle.AtomicStore(ref disposed, 1); }
}
namespace System.Timers {
    public class Timer : IDisposable {
        public event Action Elapsed;
        public double Interval; public bool AutoReset; bool enabled;
        public Timer() { AutoReset = true; }
        public Timer(double interval) { Interval = interval; AutoReset = true; }
        public bool Enabled { get { return enabled; } set { if (value) Start(); else Stop(); } }
        public void Start() {
            enabled = true;
            Delegate tick = () => { Delegate f = Elapsed; if (f != null) f(this, __raddle.Something()); };
            __raddle.TimerStart(this, __raddle.Function(tick), tick, AutoReset ? 1 : 0);
        }
        public void Stop() { enabled = false; __raddle.TimerStop(this); }
        public void Close() { enabled = false; __raddle.TimerEnd(this); }
        public void Dispose() { Close(); }
    }
}
