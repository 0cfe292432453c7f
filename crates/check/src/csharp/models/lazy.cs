// Values made once, and values of which each thread has its own.
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
            // What made it has been released by now.
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
public class AsyncLocal<T> {
    long key;
    public AsyncLocal() { key = __raddle.KeyCreate(0); }
    public T Value {
        get { __Own own = __raddle.KeyGet(key); if (own == null) return __raddle.Unknown(); return own.value; }
        set { __Own own = new __Own(); own.value = value; __raddle.KeySet(key, own); }
    }
}
