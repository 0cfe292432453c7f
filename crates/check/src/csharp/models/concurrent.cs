// Collections for several threads. Every method is one step under a lock that no other code can
// hold. Adding an element happens before taking it out.
public class __Shared {
    public object __gate = new object();
    public void __In() { __raddle.Lock(__gate); }
    public void __Out() { __raddle.Unlock(__gate); }
}
public class ConcurrentDictionary<K, V> : __Shared, IDictionary<K, V> {
    object[] keys = new object[256]; object[] values = new object[256]; int count;
    public ConcurrentDictionary() { }
    public ConcurrentDictionary(object a) { }
    public ConcurrentDictionary(object a, object b) { }
    int __Find(object k) { for (int i = 0; i < count; i++) { if (keys[i] == k) return i; } return -1; }
    void __Put(object k, object v) { int i = __Find(k); if (i >= 0) values[i] = v; else if (count < 256) { keys[count] = k; values[count] = v; count = count + 1; } }
    public bool TryAdd(K k, V v) { __In(); bool added = __Find(k) < 0; if (added) __Put(k, v); __Out(); return added; }
    public bool TryGetValue(K k, out V v) { __In(); int i = __Find(k); v = i < 0 ? null : values[i]; __Out(); return i >= 0; }
    public bool ContainsKey(K k) { __In(); int i = __Find(k); __Out(); return i >= 0; }
    public bool TryRemove(K k, out V v) {
        __In();
        int i = __Find(k);
        v = i < 0 ? null : values[i];
        if (i >= 0) { count = count - 1; keys[i] = keys[count]; values[i] = values[count]; }
        __Out();
        return i >= 0;
    }
    public bool TryUpdate(K k, V v, V old) { __In(); int i = __Find(k); bool same = i >= 0 && values[i] == old; if (same) values[i] = v; __Out(); return same; }
    public V GetOrAdd(K k, object make) {
        __In(); int i = __Find(k); object known = i < 0 ? null : values[i]; __Out();
        if (i >= 0) return known;
        object v = make;
        if (make is Delegate) v = make(k);
        __In(); i = __Find(k); if (i < 0) __Put(k, v); else v = values[i]; __Out();
        return v;
    }
    public V GetOrAdd(K k, Delegate make, object a) { return GetOrAdd(k, x => make(x, a)); }
    public V AddOrUpdate(K k, object make, Delegate change) {
        __In(); int i = __Find(k); object known = i < 0 ? null : values[i]; __Out();
        object v = make;
        if (i >= 0) v = change(k, known); else if (make is Delegate) v = make(k);
        __In(); __Put(k, v); __Out();
        return v;
    }
    public V get_Item(K k) { __In(); int i = __Find(k); object v = i < 0 ? null : values[i]; __Out(); if (i < 0) throw new ArgumentException(); return v; }
    public void set_Item(K k, V v) { __In(); __Put(k, v); __Out(); }
    public void Clear() { __In(); count = 0; __Out(); }
    public int Count { get { __In(); int n = count; __Out(); return n; } }
    public bool IsEmpty { get { __In(); int n = count; __Out(); return n == 0; } }
    public ICollection<K> Keys { get { __In(); List<K> l = new List<K>(); for (int i = 0; i < count; i++) l.__Put(keys[i]); __Out(); return l; } }
    public ICollection<V> Values { get { __In(); List<V> l = new List<V>(); for (int i = 0; i < count; i++) l.__Put(values[i]); __Out(); return l; } }
    public object[] ToArray() { __In(); object[] pairs = new object[count]; for (int i = 0; i < count; i++) pairs[i] = new KeyValuePair<K, V>(keys[i], values[i]); __Out(); return pairs; }
    public __Enumerator GetEnumerator() { object[] all = ToArray(); return new __Enumerator(all, __raddle.ArrayLength(all), null); }
}
public class ConcurrentQueue<T> : __Shared, IReadOnlyCollection<T> {
    object[] items = new object[256]; int first; int end;
    public ConcurrentQueue() { }
    public ConcurrentQueue(object a) { }
    public void Enqueue(T x) { __In(); if (end < 256) { items[end] = x; end = end + 1; } __Out(); }
    public bool TryDequeue(out T x) { __In(); bool some = first < end; x = null; if (some) { x = items[first]; first = first + 1; } __Out(); return some; }
    public bool TryPeek(out T x) { __In(); bool some = first < end; x = null; if (some) x = items[first]; __Out(); return some; }
    public int Count { get { __In(); int n = end - first; __Out(); return n; } }
    public bool IsEmpty { get { __In(); int n = end - first; __Out(); return n == 0; } }
    public void Clear() { __In(); first = end; __Out(); }
    public T[] ToArray() { __In(); object[] to = new object[end - first]; for (int i = first; i < end; i++) to[i - first] = items[i]; __Out(); return to; }
    public __Enumerator GetEnumerator() { object[] all = ToArray(); return new __Enumerator(all, __raddle.ArrayLength(all), null); }
}
public class ConcurrentStack<T> : __Shared, IReadOnlyCollection<T> {
    object[] items = new object[256]; int count;
    public void Push(T x) { __In(); if (count < 256) { items[count] = x; count = count + 1; } __Out(); }
    public bool TryPop(out T x) { __In(); bool some = count > 0; x = null; if (some) { count = count - 1; x = items[count]; } __Out(); return some; }
    public bool TryPeek(out T x) { __In(); bool some = count > 0; x = null; if (some) x = items[count - 1]; __Out(); return some; }
    public int Count { get { __In(); int n = count; __Out(); return n; } }
    public bool IsEmpty { get { __In(); int n = count; __Out(); return n == 0; } }
    public T[] ToArray() { __In(); object[] to = new object[count]; for (int i = 0; i < count; i++) to[i] = items[i]; __Out(); return to; }
    public __Enumerator GetEnumerator() { object[] all = ToArray(); return new __Enumerator(all, __raddle.ArrayLength(all), null); }
}
public class ConcurrentBag<T> : ConcurrentStack<T> {
    public ConcurrentBag() { }
    public ConcurrentBag(object a) { }
    public void Add(T x) { Push(x); }
    public bool TryTake(out T x) { return TryPop(out x); }
}
public class BlockingCollection<T> : IDisposable, IEnumerable<T> {
    ConcurrentQueue<T> items = new ConcurrentQueue<T>(); object there = new object(); object room = new object(); int bound; int added;
    public BlockingCollection() { __raddle.SemInit(there, 0); }
    public BlockingCollection(object n) { __raddle.SemInit(there, 0); if (n is IEnumerable<T>) return; bound = n; __raddle.SemInit(room, bound); }
    public void Add(T x) { if (bound > 0) __raddle.SemWait(room); items.Enqueue(x); __raddle.SemPost(there); }
    public void Add(T x, object token) { Add(x); }
    public bool TryAdd(T x) { Add(x); return true; }
    public T Take() { __raddle.SemWait(there); T x; if (!items.TryDequeue(out x)) { __raddle.SemPost(there); throw new InvalidOperationException(); } if (bound > 0) __raddle.SemPost(room); return x; }
    public T Take(object token) { return Take(); }
    public bool TryTake(out T x) { x = null; if (__raddle.SemTryWait(there) != 0) return false; if (!items.TryDequeue(out x)) { __raddle.SemPost(there); return false; } if (bound > 0) __raddle.SemPost(room); return true; }
    public bool TryTake(out T x, object timeout) { x = null; if (__raddle.SemTimedWait(there) != 0) return false; if (!items.TryDequeue(out x)) { __raddle.SemPost(there); return false; } if (bound > 0) __raddle.SemPost(room); return true; }
    public void CompleteAdding() { added = 1; __raddle.SemPost(there); }
    public bool IsCompleted => added == 1 && items.IsEmpty;
    public bool IsAddingCompleted => added == 1;
    public int Count => items.Count;
    public BlockingCollection<T> GetConsumingEnumerable() { return this; }
    public BlockingCollection<T> GetConsumingEnumerable(object token) { return this; }
    public __Consumer<T> GetEnumerator() { return new __Consumer<T>(this); }
    public bool __Next(__Consumer<T> c) {
        __raddle.SemWait(there);
        T x;
        if (items.TryDequeue(out x)) { c.Current = x; if (bound > 0) __raddle.SemPost(room); return true; }
        // Completion wakes all waiting threads.
        __raddle.SemPost(there);
        return false;
    }
    public void Dispose() { }
}
public class __Consumer<T> {
    BlockingCollection<T> of; public object Current;
    public __Consumer(BlockingCollection<T> c) { of = c; }
    public bool MoveNext() { return of.__Next(this); }
}
public static class Channel {
    public static Channel<T> CreateUnbounded<T>() { return new Channel<T>(); }
    public static Channel<T> CreateUnbounded<T>(object options) { return new Channel<T>(); }
    public static Channel<T> CreateBounded<T>(object n) { return new Channel<T>(); }
}
public class Channel<T> {
    public BlockingCollection<T> __items = new BlockingCollection<T>();
    public ChannelWriter<T> Writer => new ChannelWriter<T>(__items);
    public ChannelReader<T> Reader => new ChannelReader<T>(__items);
}
public class ChannelWriter<T> {
    BlockingCollection<T> items;
    public ChannelWriter(BlockingCollection<T> c) { items = c; }
    public bool TryWrite(T x) { items.Add(x); return true; }
    public ValueTask WriteAsync(T x) { items.Add(x); return Task.CompletedTask; }
    public ValueTask WriteAsync(T x, object token) { items.Add(x); return Task.CompletedTask; }
    public void Complete() { items.CompleteAdding(); }
    public void Complete(object e) { items.CompleteAdding(); }
    public bool TryComplete() { items.CompleteAdding(); return true; }
}
public class ChannelReader<T> {
    BlockingCollection<T> items;
    public ChannelReader(BlockingCollection<T> c) { items = c; }
    public bool TryRead(out T x) { return items.TryTake(out x); }
    public ValueTask<T> ReadAsync() { return Task.Run(() => items.Take()); }
    public ValueTask<T> ReadAsync(object token) { return Task.Run(() => items.Take()); }
    public BlockingCollection<T> ReadAllAsync() { return items; }
    public BlockingCollection<T> ReadAllAsync(object token) { return items; }
}
