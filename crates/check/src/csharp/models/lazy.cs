// Values that are created once, and values that each thread has its own copy of.
public class Lazy<T> {
    object made; object known; Delegate factory; object value; object gate = new object();
    public Lazy() { }
    public Lazy(Delegate f) { factory = f; }
    public Lazy(Delegate f, object mode) { factory = f; }
    public T Value {
        get {
            if (known != null) { __raddle.Learn(gate); return value; }
            __raddle.LockStatic(gate, 1);
            __raddle.Lock(gate);
            try {
                if (made == null) { value = factory == null ? __raddle.Something() : factory(); made = gate; }
            } finally { __raddle.Unlock(gate); }
            // The factory has been released by now.
            known = gate;
            return value;
        }
    }
    public bool IsValueCreated => made != null;
}
public static class LazyInitializer {
    public static object EnsureInitialized(ref object x, Delegate f) {
        object now = __raddle.AtomicLoad(ref x);
        if (now != null) return now;
        object v = f();
        __raddle.CompareSwap(ref x, null, v);
        return __raddle.AtomicLoad(ref x);
    }
}
public class __Own { public object value; }
public class ThreadLocal<T> : IDisposable {
    long key; Delegate factory;
    public ThreadLocal() { key = __raddle.KeyCreate(0); }
    public ThreadLocal(Delegate f) { key = __raddle.KeyCreate(0); factory = f; }
    public ThreadLocal(Delegate f, bool track) { key = __raddle.KeyCreate(0); factory = f; }
    __Own __Get() {
        __Own own = __raddle.KeyGet(key);
        if (own == null) { own = new __Own(); __raddle.KeySet(key, own); if (factory != null) own.value = factory(); }
        return own;
    }
    public T Value { get { return __Get().value; } set { __Get().value = value; } }
    public bool IsValueCreated => __raddle.KeyGet(key) != null;
    public object Values => __raddle.Something();
    public void Dispose() { }
}
// Values that flow to started threads and tasks: a chain, the latest first.
public class __Flow {
    public object owner; public object value; public __Flow next;
    static long key; static bool used;
    public static __Flow Capture() { if (!used) return null; return __raddle.KeyGet(key); }
    public static void Restore(__Flow f) { if (f != null) __raddle.KeySet(key, f); }
    public static void Set(object owner, object value) {
        if (!used) { key = __raddle.KeyCreate(0); used = true; }
        __Flow f = new __Flow();
        f.owner = owner;
        f.value = value;
        f.next = __raddle.KeyGet(key);
        __raddle.KeySet(key, f);
    }
    public static object Get(object owner) {
        __Flow f = Capture();
        for (int n = 0; f != null && n < 64; n++) { if (f.owner == owner) return f.value; f = f.next; }
        return null;
    }
}
public class AsyncLocal<T> {
    public AsyncLocal() { }
    public AsyncLocal(Delegate changed) { }
    public T Value { get { return __Flow.Get(this); } set { __Flow.Set(this, value); } }
}
