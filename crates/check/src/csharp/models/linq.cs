// The part of LINQ that decides which threads are started and joined. Queries run eagerly.
// The rest is unknown.
public static class Enumerable {
    public static object[] __Items(object source) {
        List<object> l = new List<object>();
        foreach (object x in source) l.__Put(x);
        return l.__Copy();
    }
    public static T[] ToArray<T>(this IEnumerable<T> source) { return __Items(source); }
    public static List<T> ToList<T>(this IEnumerable<T> source) { List<T> l = new List<T>(); foreach (object x in source) l.__Put(x); return l; }
    public static IEnumerable<int> Range(int from, int n) {
        int m = __raddle.IsKnown(n) ? n : 2;
        if (m > 64) m = 64;
        int[] a = new int[m];
        for (int i = 0; i < m; i++) a[i] = from + i;
        return a;
    }
    public static IEnumerable<T> Repeat<T>(T x, int n) { object[] a = new object[n]; for (int i = 0; i < n; i++) a[i] = x; return a; }
    public static IEnumerable<T> Empty<T>() { return new object[0]; }
    public static IEnumerable<R> Select<T, R>(this IEnumerable<T> source, Func<T, R> f) {
        List<R> l = new List<R>();
        int i = 0;
        foreach (object x in source) { l.__Put(f(x, i)); i = i + 1; }
        return l;
    }
    public static IEnumerable<T> Where<T>(this IEnumerable<T> source, Func<T, bool> f) {
        List<T> l = new List<T>();
        foreach (object x in source) { if (f(x)) l.__Put(x); }
        return l;
    }
    public static bool Any<T>(this IEnumerable<T> source) { foreach (object x in source) return true; return false; }
    public static bool Any<T>(this IEnumerable<T> source, Func<T, bool> f) { foreach (object x in source) { if (f(x)) return true; } return false; }
    public static bool All<T>(this IEnumerable<T> source, Func<T, bool> f) { foreach (object x in source) { if (!f(x)) return false; } return true; }
    public static int Count<T>(this IEnumerable<T> source) { int n = 0; foreach (object x in source) n = n + 1; return n; }
    public static int Count<T>(this IEnumerable<T> source, Func<T, bool> f) { int n = 0; foreach (object x in source) { if (f(x)) n = n + 1; } return n; }
    public static T First<T>(this IEnumerable<T> source) { foreach (object x in source) return x; throw new InvalidOperationException(); }
    public static T First<T>(this IEnumerable<T> source, Func<T, bool> f) { foreach (object x in source) { if (f(x)) return x; } throw new InvalidOperationException(); }
    public static T FirstOrDefault<T>(this IEnumerable<T> source) { foreach (object x in source) return x; return null; }
    public static T FirstOrDefault<T>(this IEnumerable<T> source, Func<T, bool> f) { foreach (object x in source) { if (f(x)) return x; } return null; }
    // Comparing two sequences waits for the ends of both.
    public static bool SequenceEqual<T>(this IEnumerable<T> a, IEnumerable<T> b) { foreach (object x in a) { } foreach (object x in b) { } return __raddle.Unknown(); }
    public static T Last<T>(this IEnumerable<T> source) { object last = null; foreach (object x in source) last = x; return last; }
    public static T LastOrDefault<T>(this IEnumerable<T> source) { object last = null; foreach (object x in source) last = x; return last; }
    public static T Single<T>(this IEnumerable<T> source) { object last = null; foreach (object x in source) last = x; return last; }
    public static int Sum(this IEnumerable<int> source) { int n = 0; foreach (int x in source) n = n + x; return n; }
    public static IEnumerable<T> Take<T>(this IEnumerable<T> source, int n) { List<T> l = new List<T>(); foreach (object x in source) { if (n <= 0) return l; l.__Put(x); n = n - 1; } return l; }
    public static IEnumerable<T> Concat<T>(this IEnumerable<T> a, IEnumerable<T> b) { List<T> l = new List<T>(); foreach (object x in a) l.__Put(x); foreach (object x in b) l.__Put(x); return l; }
    public static IEnumerable<T> Cast<T>(this IEnumerable<T> source) { return source; }
    public static IEnumerable<T> AsEnumerable<T>(this IEnumerable<T> source) { return source; }
    public static ParallelQuery<T> AsParallel<T>(this IEnumerable<T> source) { return new ParallelQuery<T>(__Items(source)); }
    public static Task Unwrap(this Task t) { return t.ContinueWith(x => x.__value); }
}
// Queries that run their delegates on several threads.
public class ParallelQuery<T> : IEnumerable<T> {
    object[] items;
    public ParallelQuery(object[] items) { this.items = items; }
    public void ForAll(Action<T> f) { Parallel.ForEach(items, f); }
    public ParallelQuery<T> Select(Delegate f) {
        object[] out_ = new object[__raddle.ArrayLength(items)];
        Parallel.For(0, __raddle.ArrayLength(items), i => { out_[i] = f(items[i]); });
        return new ParallelQuery<T>(out_);
    }
    public ParallelQuery<T> Where(Delegate f) { Parallel.ForEach(items, f); return this; }
    public ParallelQuery<T> WithDegreeOfParallelism(int n) { return this; }
    public ParallelQuery<T> AsOrdered() { return this; }
    public __Enumerator GetEnumerator() { return new __Enumerator(items, __raddle.ArrayLength(items), null); }
}
