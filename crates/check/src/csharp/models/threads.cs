// Threads and the pool. Each work item is a thread: the most concurrency that is possible.
public class Thread {
    public bool __done; public long __handle;
    Delegate body;
    public bool IsBackground; public string Name; public object Priority; public int ManagedThreadId; public object CurrentCulture;
    static Thread[] all = new Thread[64];
    static int count;
    static ThreadLocal<Thread> current = new ThreadLocal<Thread>();
    public Thread(Delegate f) { body = f; }
    public Thread(Delegate f, int stack) { body = f; }
    public void Start() { Start(null); }
    public void Start(object argument) {
        if (count < 64) { all[count] = this; count = count + 1; }
        Delegate f = body;
        __Flow flow = __Flow.Capture();
        Delegate run = () => { __Flow.Restore(flow); f(argument); __raddle.Publish(this); __done = true; __raddle.NotifyAll(this); };
        __handle = __raddle.Start(__raddle.Function(run), run);
    }
    public void UnsafeStart() { Start(null); }
    public void Join() { if (__handle != 0) __raddle.Join(__handle); }
    public bool Join(object timeout) { return __raddle.UntilTimed(this); }
    public bool IsAlive { get { if (__done) __raddle.Learn(this); return __handle != 0 && !__done; } }
    public void Interrupt() { }
    public void Abort() { }
    public void SetApartmentState(object s) { }
    public static Thread CurrentThread { get { return __raddle.Something(); } }
    public static void Sleep(object t) { __raddle.Sleep(); }
    public static bool Yield() { __raddle.Yield(); return true; }
    public static void SpinWait(int n) { __raddle.Yield(); }
    public static void MemoryBarrier() { __raddle.Fence(); }
    public static object VolatileRead(ref object x) { return __raddle.AtomicLoad(ref x); }
    public static void VolatileWrite(ref object x, object v) { __raddle.AtomicStore(ref x, v); }
    public static void __JoinForeground() {
        for (int i = 0; i < count; i++) {
            Thread t = all[i];
            if (!t.IsBackground && t.__handle != 0) __raddle.Join(t.__handle);
        }
    }
}
public static class ThreadPool {
    public static bool QueueUserWorkItem(Delegate f) { return QueueUserWorkItem(f, null); }
    public static bool QueueUserWorkItem(Delegate f, object state) {
        __Flow flow = __Flow.Capture();
        Delegate run = () => { __Flow.Restore(flow); f(state); };
        __raddle.Start(__raddle.Function(run), run);
        return true;
    }
    public static bool QueueUserWorkItem(Delegate f, object state, bool local) { return QueueUserWorkItem(f, state); }
    public static bool UnsafeQueueUserWorkItem(Delegate f, object state) { return QueueUserWorkItem(f, state); }
    public static bool SetMinThreads(int a, int b) { return true; }
}
public class SpinWait {
    public void SpinOnce() { __raddle.Yield(); }
    public void SpinOnce(int n) { __raddle.Yield(); }
    public static void SpinUntil(Delegate f) { while (!f()) __raddle.Sleep(); }
}
// The UI thread has one. If there is a UI thread, other threads have none.
public class SynchronizationContext {
    bool ui;
    public static SynchronizationContext Current {
        get {
            if (!__UiThread.IsHere()) return null;
            if (!__UiThread.IsHeld()) return __raddle.Something();
            SynchronizationContext c = new SynchronizationContext();
            c.ui = true;
            return c;
        }
    }
    public void Post(Delegate f, object state) {
        if (ui) __UiThread.Post(f, state, null); else ThreadPool.QueueUserWorkItem(f, state);
    }
    public void Send(Delegate f, object state) { if (ui) __UiThread.Run(f, state, null); else f(state); }
}
