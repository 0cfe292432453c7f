// Accesses that create order. Two accesses do not race if both are among these.
public static class Interlocked {
    public static long Increment(ref long x) { return __raddle.Add(ref x, 1) + 1; }
    public static long Decrement(ref long x) { return __raddle.Add(ref x, -1) - 1; }
    public static long Add(ref long x, long n) { return __raddle.Add(ref x, n) + n; }
    public static object Exchange(ref object x, object v) { return __raddle.Swap(ref x, v); }
    public static object CompareExchange(ref object x, object v, object old) { return __raddle.CompareSwap(ref x, old, v); }
    public static long Read(ref long x) { return __raddle.AtomicLoad(ref x); }
    public static long And(ref long x, long v) { return __raddle.And(ref x, v); }
    public static long Or(ref long x, long v) { return __raddle.Or(ref x, v); }
    public static void MemoryBarrier() { __raddle.Fence(); }
    public static void MemoryBarrierProcessWide() { __raddle.Fence(); }
}
public static class Volatile {
    public static object Read(ref object x) { return __raddle.AtomicLoad(ref x); }
    public static void Write(ref object x, object v) { __raddle.AtomicStore(ref x, v); }
}
