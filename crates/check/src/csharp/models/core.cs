// Classes that the machine knows by number come first: arrays, delegates, strings.
public class Array : IEnumerable<T>, IList<T> {
    public int Length => __raddle.ArrayLength(this);
    public int Count => __raddle.ArrayLength(this);
    public int GetLength(int dimension) { if (dimension == 0) return __raddle.ArrayLength(this); return __raddle.Unknown(); }
    public __Enumerator GetEnumerator() { return new __Enumerator((object[])this, __raddle.ArrayLength(this), null); }
    public object Clone() {
        object[] from = (object[])this;
        int n = __raddle.ArrayLength(this);
        object[] to = new object[n];
        for (int i = 0; i < n; i++) to[i] = from[i];
        return to;
    }
    public static void Copy(object[] from, object[] to, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }
    public static void Copy(object[] from, int a, object[] to, int b, int n) { for (int i = 0; i < n; i++) to[b + i] = from[a + i]; }
    public static object[] Empty() { return new object[0]; }
}
public class Delegate {
    // After one of two delegates is removed it is unknown which one is called.
    public static Delegate Combine(Delegate a, Delegate b) {
        if (a == null) return b;
        if (b == null) return a;
        return (x, y, z, w) => { a(x, y, z, w); return b(x, y, z, w); };
    }
    public static Delegate Remove(Delegate a, Delegate b) {
        if (a == null) return null;
        if (a == b) return null;
        if (b != null && __raddle.Function(a) == __raddle.Function(b) && __raddle.Bound(a) == __raddle.Bound(b)) return null;
        return __raddle.Something();
    }
    public IAsyncResult BeginInvoke(object a, object b) { return Task.Run(this); }
}
public class String {
    public int __length;
    public int Length => __length;
    public override string ToString() { return this; }
}
public class Object { public Object() { } }
public static class __raddle { }
public interface IDisposable { void Dispose(); }
public interface IEnumerable<T> { __Enumerator GetEnumerator(); }
public interface ICollection<T> : IEnumerable<T> { }
public interface IList<T> : ICollection<T> { }
public interface IReadOnlyCollection<T> : IEnumerable<T> { }
public interface IReadOnlyList<T> : IReadOnlyCollection<T> { }
public interface IDictionary<K, V> : IEnumerable<KeyValuePair<K, V>> { }
public interface IReadOnlyDictionary<K, V> : IEnumerable<KeyValuePair<K, V>> { }
public interface IAsyncResult { }
// Iterates over a snapshot and reads its collection at each step.
public class __Enumerator {
    object[] items; int count; int at; object owner;
    public object Current;
    public __Enumerator(object[] items, int count, object owner) { this.items = items; this.count = count; this.owner = owner; }
    public bool MoveNext() {
        if (owner != null) __raddle.Reads(owner);
        if (at >= count) return false;
        Current = items[at];
        at = at + 1;
        return true;
    }
    public void Dispose() { }
}
public class ValueTuple { public object Item1; public object Item2; public object Item3; public object Item4; public object Item5; public object Item6; public object Item7; public object Item8; }
public class KeyValuePair<K, V> {
    public K Key; public V Value;
    public KeyValuePair(K key, V value) { Key = key; Value = value; }
    public K Item1 => Key;
    public V Item2 => Value;
}
public class Exception {
    public string Message; public Exception InnerException;
    public Exception() { }
    public Exception(string message) { Message = message; }
    public Exception(string message, Exception inner) { Message = message; InnerException = inner; }
}
public class SystemException : Exception { public SystemException() { } public SystemException(string m) { Message = m; } }
public class InvalidOperationException : SystemException { public InvalidOperationException() { } public InvalidOperationException(string m) { Message = m; } }
public class ObjectDisposedException : InvalidOperationException { public ObjectDisposedException(string m) { Message = m; } }
public class ArgumentException : SystemException { public ArgumentException() { } public ArgumentException(string m) { Message = m; } public ArgumentException(string m, string p) { Message = m; } }
public class ArgumentNullException : ArgumentException { public ArgumentNullException(string m) { Message = m; } public ArgumentNullException(string m, string p) { Message = m; } }
public class ArgumentOutOfRangeException : ArgumentException { public ArgumentOutOfRangeException(string m) { Message = m; } public ArgumentOutOfRangeException(string m, string p) { Message = m; } }
public class NotSupportedException : SystemException { public NotSupportedException() { } public NotSupportedException(string m) { Message = m; } }
public class NotImplementedException : SystemException { public NotImplementedException() { } public NotImplementedException(string m) { Message = m; } }
public class FormatException : SystemException { public FormatException() { } public FormatException(string m) { Message = m; } }
public class TimeoutException : SystemException { public TimeoutException() { } public TimeoutException(string m) { Message = m; } }
public class ApplicationException : Exception { public ApplicationException() { } public ApplicationException(string m) { Message = m; } }
public class OperationCanceledException : SystemException { public OperationCanceledException() { } public OperationCanceledException(object t) { } }
public class TaskCanceledException : OperationCanceledException { public TaskCanceledException() { } }
public class AggregateException : Exception { public AggregateException() { } public AggregateException(object inner) { InnerException = inner; } public AggregateException Flatten() { return this; } }
// In ticks of 100 ns, if the span was made from numbers.
public struct TimeSpan {
    public long Ticks;
    public TimeSpan(long ticks) { Ticks = ticks; }
    public TimeSpan(long h, long m, long s) { Ticks = ((h * 60 + m) * 60 + s) * 10000000; }
    public TimeSpan(long d, long h, long m, long s) { Ticks = (((d * 24 + h) * 60 + m) * 60 + s) * 10000000; }
    public TimeSpan(long d, long h, long m, long s, long ms) { Ticks = ((((d * 24 + h) * 60 + m) * 60 + s) * 1000 + ms) * 10000; }
    public static TimeSpan __Of(long ms) { return new TimeSpan(ms * 10000); }
    public static TimeSpan FromTicks(long n) { return new TimeSpan(n); }
    public static TimeSpan FromMilliseconds(double n) { return new TimeSpan((long)(n * 10000)); }
    public static TimeSpan FromSeconds(double n) { return new TimeSpan((long)(n * 10000000)); }
    public static TimeSpan FromMinutes(double n) { return new TimeSpan((long)(n * 600000000)); }
    public static TimeSpan FromHours(double n) { return new TimeSpan((long)(n * 36000000000)); }
    public static TimeSpan FromDays(double n) { return new TimeSpan((long)(n * 864000000000)); }
    public static TimeSpan Zero => new TimeSpan(0);
    public static TimeSpan MaxValue => new TimeSpan(9223372036854775807);
    public static TimeSpan MinValue => new TimeSpan(-9223372036854775807);
    public double TotalMilliseconds => Ticks / 10000.0;
    public double TotalSeconds => Ticks / 10000000.0;
    public TimeSpan Add(TimeSpan other) { return new TimeSpan(Ticks + other.Ticks); }
    public TimeSpan Subtract(TimeSpan other) { return new TimeSpan(Ticks - other.Ticks); }
    public TimeSpan Negate() { return new TimeSpan(-Ticks); }
    public TimeSpan Duration() { return new TimeSpan(Ticks < 0 ? -Ticks : Ticks); }
    public static TimeSpan operator +(TimeSpan a, TimeSpan b) { return new TimeSpan(a.Ticks + b.Ticks); }
    public static TimeSpan operator -(TimeSpan a, TimeSpan b) { return new TimeSpan(a.Ticks - b.Ticks); }
    public static bool operator ==(TimeSpan a, TimeSpan b) { return a.Ticks == b.Ticks; }
    public static bool operator !=(TimeSpan a, TimeSpan b) { return a.Ticks != b.Ticks; }
    public static bool operator <(TimeSpan a, TimeSpan b) { return a.Ticks < b.Ticks; }
    public static bool operator >(TimeSpan a, TimeSpan b) { return a.Ticks > b.Ticks; }
    public static bool operator <=(TimeSpan a, TimeSpan b) { return a.Ticks <= b.Ticks; }
    public static bool operator >=(TimeSpan a, TimeSpan b) { return a.Ticks >= b.Ticks; }
    public static long __Milliseconds(object t) { if (t is TimeSpan) { TimeSpan s = (TimeSpan)t; return s.Ticks / 10000; } return (long)t; }
}
public static class Timeout { public const int Infinite = -1; public static TimeSpan InfiniteTimeSpan => TimeSpan.__Of(-1); }
public static class GC {
    public static void Collect() { __raddle.Collect(); }
    public static void Collect(int generation) { __raddle.Collect(); }
    public static void WaitForPendingFinalizers() { __raddle.Sleep(); __raddle.Sleep(); }
    public static void SuppressFinalize(object o) { __raddle.Suppress(o); }
    public static void KeepAlive(object o) { }
}
public static class Environment { public static void Exit(int code) { __raddle.Exit(code); } public static int ProcessorCount => 4; }
