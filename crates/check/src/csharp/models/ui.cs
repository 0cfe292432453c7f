// Programs with windows. The thread that holds this lock is the UI thread. Events hold it one after
// another, Invoke takes it, BeginInvoke has another thread take it, and the code after an await
// takes it again.
public static class __UiThread {
    static object gate = new object();
    static Delegate[] handlers = new Delegate[32];
    static int count;
    // Raised once, before all others.
    static Delegate[] starters = new Delegate[32];
    static int starting;
    // If no events are raised, the UI thread is unknown.
    static bool active;
    public static bool IsHeld() { return __raddle.Holds(gate) != 0; }
    public static bool IsHere() { return !active || IsHeld(); }
    public static void Enter() { active = true; __raddle.LockStatic(gate, 1); __raddle.Lock(gate); }
    public static void Leave() { __raddle.Unlock(gate); }
    public static void Return() { if (!IsHeld()) Enter(); }
    // Other threads may run between two events.
    public static void Pump() { Leave(); __raddle.Sleep(); Enter(); }
    public static object Run(Delegate f, object a, object b) {
        if (IsHere()) return f(a, b);
        Enter();
        try { return f(a, b); } finally { Leave(); }
    }
    public static Task Post(Delegate f, object a, object b) {
        Task t = new Task();
        if (!active) return NobodyKnows.Post(f, a, b);
        t.__Begin(() => Run(f, a, b), null);
        return t;
    }
    public static void Subscribe(Delegate f) { if (count < 32) { handlers[count] = f; count = count + 1; } }
    public static void SubscribeToStart(Delegate f) { if (starting < 32) { starters[starting] = f; starting = starting + 1; } }
    public static void Open() {
        for (int i = 0; i < starting; i++) {
            Delegate f = starters[i];
            starters[i] = null;
            if (f != null) { try { f(__raddle.Something(), __raddle.Something()); } catch (Exception e) { } Pump(); }
        }
    }
    public static void Raise() {
        Open();
        int n = count;
        for (int i = 0; i < n; i++) {
            Delegate f = handlers[i];
            try { f(__raddle.Something(), __raddle.Something()); } catch (Exception e) { }
            Pump();
        }
    }
}
public class __UiObject : IDisposable {
    public event Action Click { add { __UiThread.Subscribe(value); } remove { } }
    public event Action Load { add { __UiThread.SubscribeToStart(value); } remove { } }
    public event Action Loaded { add { __UiThread.SubscribeToStart(value); } remove { } }
    public event Action Shown { add { __UiThread.SubscribeToStart(value); } remove { } }
    public event Action Closing { add { __UiThread.Subscribe(value); } remove { } }
    public event Action FormClosing { add { __UiThread.Subscribe(value); } remove { } }
    public Dispatcher Dispatcher { get { return new Dispatcher(); } }
    public bool InvokeRequired => !__UiThread.IsHere();
    public object Invoke(Delegate f) { return __UiThread.Run(f, null, null); }
    public object Invoke(Delegate f, object a) { return __UiThread.Run(f, a, null); }
    public object Invoke(Delegate f, object a, object b) { return __UiThread.Run(f, a, b); }
    public IAsyncResult BeginInvoke(Delegate f) { return __UiThread.Post(f, null, null); }
    public IAsyncResult BeginInvoke(Delegate f, object a) { return __UiThread.Post(f, a, null); }
    public IAsyncResult BeginInvoke(Delegate f, object a, object b) { return __UiThread.Post(f, a, b); }
    public object EndInvoke(object r) { if (r is Task) { Task t = (Task)r; t.Wait(); return t.__value; } return __raddle.Something(); }
    public bool CheckAccess() { return __UiThread.IsHere(); }
    public void Dispose() { }
}
public class Control : __UiObject { }
public class Form : Control { }
public class UserControl : Control { }
public class Button : Control { }
public class ContentControl : Control { }
public class Window : ContentControl { }
public class Page : Control { }
// MAUI and Xamarin.Forms.
public class ContentPage : Page { }
public class ContentView : Control { }
public class CarouselPage : Page { }
public class FlyoutPage : Page { }
public class NavigationPage : Page { }
public class Shell : Page { }
public class TabbedPage : Page { }
public static class MainThread {
    public static bool IsMainThread => __UiThread.IsHere();
    public static void BeginInvokeOnMainThread(Delegate f) { __UiThread.Post(f, null, null); }
    public static Task InvokeOnMainThreadAsync(Delegate f) { return __UiThread.Post(f, null, null); }
}
public class Application : __UiObject {
    public static Application Current => new Application();
    public static void Run(object form) { __UiThread.Enter(); __UiThread.Raise(); __UiThread.Raise(); __UiThread.Leave(); }
    public static void DoEvents() { }
}
public class Dispatcher {
    public static Dispatcher CurrentDispatcher => new Dispatcher();
    public static Dispatcher GetForCurrentThread() { return __UiThread.IsHere() ? new Dispatcher() : null; }
    public bool IsDispatchRequired => !__UiThread.IsHere();
    public bool Dispatch(Delegate f) { __UiThread.Post(f, null, null); return true; }
    public Task DispatchAsync(Delegate f) { return __UiThread.Post(f, null, null); }
    public bool CheckAccess() { return __UiThread.IsHere(); }
    public object Invoke(Delegate f) { return __UiThread.Run(f, null, null); }
    // The priority may come first or last.
    public object Invoke(object a, object b) { if (a is Delegate) return __UiThread.Run(a, b, null); return __UiThread.Run(b, null, null); }
    public object Invoke(object a, object b, object c) { if (a is Delegate) return __UiThread.Run(a, b, c); return __UiThread.Run(b, c, null); }
    public Task BeginInvoke(Delegate f) { return __UiThread.Post(f, null, null); }
    public Task BeginInvoke(object a, object b) { if (a is Delegate) return __UiThread.Post(a, b, null); return __UiThread.Post(b, null, null); }
    public Task BeginInvoke(object a, object b, object c) { if (a is Delegate) return __UiThread.Post(a, b, c); return __UiThread.Post(b, c, null); }
    public Task InvokeAsync(Delegate f) { return __UiThread.Post(f, null, null); }
    public Task InvokeAsync(Delegate f, object priority) { return __UiThread.Post(f, null, null); }
}
public class DispatcherTimer {
    public object Interval;
    public event Action Tick { add { __UiThread.Subscribe(value); } remove { } }
    public void Start() { }
    public void Stop() { }
}
namespace System.Windows.Forms {
    public class Timer : IDisposable {
        public int Interval; public bool Enabled;
        public event Action Tick { add { __UiThread.Subscribe(value); } remove { } }
        public void Start() { }
        public void Stop() { }
        public void Dispose() { }
    }
}
public class DoWorkEventArgs { public object Argument; public object Result; public bool Cancel; }
public class BackgroundWorker : IDisposable {
    public event Action DoWork; public event Action RunWorkerCompleted; public event Action ProgressChanged;
    public bool WorkerReportsProgress; public bool WorkerSupportsCancellation; int cancelled; int busy; bool ui;
    public bool CancellationPending => __raddle.AtomicLoad(ref cancelled) != 0;
    public bool IsBusy => __raddle.AtomicLoad(ref busy) != 0;
    public void CancelAsync() { __raddle.AtomicStore(ref cancelled, 1); }
    public void RunWorkerAsync() { RunWorkerAsync(null); }
    public void RunWorkerAsync(object argument) {
        // It takes one item at a time.
        if (__raddle.Swap(ref busy, 1) != 0) throw new InvalidOperationException();
        ui = __UiThread.IsHeld();
        DoWorkEventArgs e = new DoWorkEventArgs();
        e.Argument = argument;
        Delegate run = () => {
            try { Delegate work = DoWork; if (work != null) work(this, e); } catch (Exception x) { }
            Delegate done = RunWorkerCompleted;
            if (done == null) { __raddle.AtomicStore(ref busy, 0); return; }
            if (ui) __UiThread.Enter();
            __raddle.AtomicStore(ref busy, 0);
            try { done(this, e); } finally { if (ui) __UiThread.Leave(); }
        };
        __raddle.Start(__raddle.Function(run), run);
    }
    public void ReportProgress(int percent) { ReportProgress(percent, null); }
    public void ReportProgress(int percent, object state) {
        Delegate f = ProgressChanged;
        if (f != null && ui) __UiThread.Post(f, this, __raddle.Something());
    }
    public void Dispose() { }
}
