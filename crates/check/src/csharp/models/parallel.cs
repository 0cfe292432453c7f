// Parallel loops: up to eight threads, each with its share of the iterations. All are joined.
public class ParallelLoopState { public bool IsStopped; public void Stop() { } public void Break() { } }
public class ParallelOptions { public int MaxDegreeOfParallelism; public object CancellationToken; public object TaskScheduler; }
public static class Parallel {
    static void __Run(int from, int to, Delegate each) {
        int rounds = to - from;
        if (!__raddle.IsKnown(rounds)) { from = 0; rounds = 2; }
        int threads = rounds < 8 ? rounds : 8;
        Task[] tasks = new Task[8];
        for (int k = 0; k < threads; k++) {
            int first = from + rounds * k / threads;
            int end = from + rounds * (k + 1) / threads;
            if (end > first + 32) end = first + 32;
            Task t = new Task();
            t.__Begin(() => { for (int i = first; i < end; i++) each(i, new ParallelLoopState()); return null; }, null);
            tasks[k] = t;
        }
        for (int k = 0; k < threads; k++) tasks[k].Wait();
    }
    public static object For(int from, int to, Delegate body) { __Run(from, to, body); return __raddle.Something(); }
    public static object For(int from, int to, object options, Delegate body) { __Run(from, to, body); return __raddle.Something(); }
    public static object For(int from, int to, Delegate start, Delegate body, Delegate end) {
        __Run(from, to, (i, s) => { object local = start(); local = body(i, s, local); end(local); });
        return __raddle.Something();
    }
    public static object ForEach(object source, Delegate body) {
        object[] items = Enumerable.ToArray(source);
        __Run(0, __raddle.ArrayLength(items), (i, s) => { body(items[i], s, i); });
        return __raddle.Something();
    }
    public static object ForEach(object source, object options, Delegate body) { return ForEach(source, body); }
    public static object ForEach(object source, Delegate start, Delegate body, Delegate end) {
        return ForEach(source, (x, s, i) => { object local = start(); local = body(x, s, local); end(local); });
    }
    public static Task ForEachAsync(object source, Delegate body) {
        object[] items = Enumerable.ToArray(source);
        Task t = new Task();
        t.__Begin(() => { __Run(0, __raddle.ArrayLength(items), (i, s) => { object r = body(items[i], CancellationToken.None); if (r is Task) __raddle.Until(r); }); return null; }, null);
        return t;
    }
    public static Task ForEachAsync(object source, object options, Delegate body) { return ForEachAsync(source, body); }
    public static void Invoke(params Delegate[] actions) { __Run(0, __raddle.ArrayLength(actions), (i, s) => { Delegate f = actions[i]; f(); }); }
}
