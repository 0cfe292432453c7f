// Collections that only one thread may use at a time. Each method reads or writes the whole
// collection. A collection drops what is added beyond 256 elements.
public class List<T> : IList<T>, IReadOnlyList<T> {
    object[] items = new object[256]; int count;
    public bool __full;
    public List() { }
    public List(object from) { if (from is IEnumerable<T>) AddRange(from); }
    public void __Yield(object x) { items[count] = x; count = count + 1; if (count >= 64) __full = true; }
    public void __Put(object x) { if (count < 256) { items[count] = x; count = count + 1; } }
    public object[] __Copy() { object[] to = new object[count]; for (int i = 0; i < count; i++) to[i] = items[i]; return to; }
    public void Add(T x) { __raddle.Writes(this); __Put(x); }
    public void AddRange(object xs) { __raddle.Writes(this); foreach (object x in xs) __Put(x); }
    public void Insert(int at, T x) { __raddle.Writes(this); __Put(x); }
    public bool Remove(T x) { __raddle.Writes(this); return __Cut(__Find(x)); }
    public void RemoveAt(int i) { __raddle.Writes(this); if (!__Cut(i)) throw new ArgumentOutOfRangeException("index"); }
    public int RemoveAll(Delegate f) { __raddle.Writes(this); count = 0; return __raddle.Unknown(); }
    public void RemoveRange(int a, int n) { __raddle.Writes(this); }
    public void Clear() { __raddle.Writes(this); count = 0; }
    public void Sort() { __raddle.Writes(this); }
    public void Sort(object c) { __raddle.Writes(this); }
    public void Reverse() { __raddle.Writes(this); }
    public bool Contains(T x) { __raddle.Reads(this); return __Find(x) >= 0; }
    public int IndexOf(T x) { __raddle.Reads(this); return __Find(x); }
    public T Find(Delegate f) { __raddle.Reads(this); for (int i = 0; i < count; i++) { if (f(items[i])) return items[i]; } return null; }
    public bool Exists(Delegate f) { __raddle.Reads(this); for (int i = 0; i < count; i++) { if (f(items[i])) return true; } return false; }
    public void ForEach(Delegate f) { __raddle.Reads(this); for (int i = 0; i < count; i++) f(items[i]); }
    public T[] ToArray() { __raddle.Reads(this); return __Copy(); }
    public void CopyTo(object[] to) { __raddle.Reads(this); }
    public void CopyTo(object[] to, int at) { __raddle.Reads(this); }
    public int Count { get { __raddle.Reads(this); return count; } }
    public int Capacity { get { return 256; } set { } }
    public T get_Item(int i) { __raddle.Reads(this); if (i >= count) throw new ArgumentOutOfRangeException("index"); return items[i]; }
    public void set_Item(int i, T x) { __raddle.Writes(this); if (i >= count) throw new ArgumentOutOfRangeException("index"); items[i] = x; }
    public __Enumerator GetEnumerator() { __raddle.Reads(this); return new __Enumerator(__Copy(), count, this); }
    public object AsReadOnly() { return this; }
    int __Find(object x) { for (int i = 0; i < count; i++) { if (items[i] == x) return i; } return -1; }
    bool __Cut(int at) {
        if (at < 0 || at >= count) return false;
        for (int i = at; i < count - 1; i++) items[i] = items[i + 1];
        count = count - 1;
        return true;
    }
}
public class ArrayList : List<object> { public ArrayList() { } }
public class Queue<T> : IReadOnlyCollection<T> {
    object[] items = new object[256]; int first; int end;
    public Queue() { }
    public Queue(object from) { }
    public void Enqueue(T x) { __raddle.Writes(this); if (end < 256) { items[end] = x; end = end + 1; } }
    public T Dequeue() { __raddle.Writes(this); if (first >= end) throw new InvalidOperationException(); T x = items[first]; first = first + 1; return x; }
    public bool TryDequeue(out T x) { __raddle.Writes(this); if (first >= end) { x = null; return false; } x = items[first]; first = first + 1; return true; }
    public T Peek() { __raddle.Reads(this); if (first >= end) throw new InvalidOperationException(); return items[first]; }
    public bool TryPeek(out T x) { __raddle.Reads(this); if (first >= end) { x = null; return false; } x = items[first]; return true; }
    public void Clear() { __raddle.Writes(this); first = end; }
    public int Count { get { __raddle.Reads(this); return end - first; } }
    public bool Contains(T x) { __raddle.Reads(this); return __raddle.Unknown(); }
    public T[] ToArray() { __raddle.Reads(this); object[] to = new object[end - first]; for (int i = first; i < end; i++) to[i - first] = items[i]; return to; }
    public __Enumerator GetEnumerator() { return new __Enumerator(ToArray(), end - first, this); }
}
public class Stack<T> : IReadOnlyCollection<T> {
    object[] items = new object[256]; int count;
    public Stack() { }
    public void Push(T x) { __raddle.Writes(this); if (count < 256) { items[count] = x; count = count + 1; } }
    public T Pop() { __raddle.Writes(this); if (count == 0) throw new InvalidOperationException(); count = count - 1; return items[count]; }
    public bool TryPop(out T x) { __raddle.Writes(this); if (count == 0) { x = null; return false; } count = count - 1; x = items[count]; return true; }
    public T Peek() { __raddle.Reads(this); if (count == 0) throw new InvalidOperationException(); return items[count - 1]; }
    public void Clear() { __raddle.Writes(this); count = 0; }
    public int Count { get { __raddle.Reads(this); return count; } }
    public T[] ToArray() { __raddle.Reads(this); object[] to = new object[count]; for (int i = 0; i < count; i++) to[i] = items[count - 1 - i]; return to; }
    public __Enumerator GetEnumerator() { return new __Enumerator(ToArray(), count, this); }
}
// Keys are compared by identity: two strings made at run time may be equal or not.
public class Dictionary<K, V> : IDictionary<K, V>, IReadOnlyDictionary<K, V> {
    object[] keys = new object[256]; object[] values = new object[256]; int count;
    public Dictionary() { }
    public Dictionary(object a) { }
    public Dictionary(object a, object b) { }
    int __Find(object k) { for (int i = 0; i < count; i++) { if (keys[i] == k) return i; } return -1; }
    void __Put(object k, object v) { if (count < 256) { keys[count] = k; values[count] = v; count = count + 1; } }
    public void Add(K k, V v) { __raddle.Writes(this); if (__Find(k) >= 0) throw new ArgumentException(); __Put(k, v); }
    public bool TryAdd(K k, V v) { __raddle.Writes(this); if (__Find(k) >= 0) return false; __Put(k, v); return true; }
    public bool ContainsKey(K k) { __raddle.Reads(this); return __Find(k) >= 0; }
    public bool ContainsValue(V v) { __raddle.Reads(this); return __raddle.Unknown(); }
    public bool TryGetValue(K k, out V v) { __raddle.Reads(this); int i = __Find(k); if (i < 0) { v = null; return false; } v = values[i]; return true; }
    public bool Remove(K k) { __raddle.Writes(this); return __Cut(__Find(k)); }
    public bool Remove(K k, out V v) { __raddle.Writes(this); int i = __Find(k); if (i < 0) { v = null; return false; } v = values[i]; return __Cut(i); }
    bool __Cut(int i) { if (i < 0) return false; count = count - 1; keys[i] = keys[count]; values[i] = values[count]; return true; }
    public void Clear() { __raddle.Writes(this); count = 0; }
    public int Count { get { __raddle.Reads(this); return count; } }
    public V get_Item(K k) { __raddle.Reads(this); int i = __Find(k); if (i < 0) throw new ArgumentException(); return values[i]; }
    public void set_Item(K k, V v) { __raddle.Writes(this); int i = __Find(k); if (i < 0) __Put(k, v); else values[i] = v; }
    public ICollection<K> Keys { get { __raddle.Reads(this); List<K> l = new List<K>(); for (int i = 0; i < count; i++) l.__Put(keys[i]); return l; } }
    public ICollection<V> Values { get { __raddle.Reads(this); List<V> l = new List<V>(); for (int i = 0; i < count; i++) l.__Put(values[i]); return l; } }
    public __Enumerator GetEnumerator() {
        __raddle.Reads(this);
        object[] pairs = new object[count];
        for (int i = 0; i < count; i++) pairs[i] = new KeyValuePair<K, V>(keys[i], values[i]);
        return new __Enumerator(pairs, count, this);
    }
}
public class SortedDictionary<K, V> : Dictionary<K, V> { public SortedDictionary() { } }
public class SortedList<K, V> : Dictionary<K, V> { public SortedList() { } }
public class HashSet<T> : ICollection<T> {
    List<T> items = new List<T>();
    public HashSet() { }
    public HashSet(object a) { }
    public bool Add(T x) { __raddle.Writes(this); if (items.Contains(x)) return false; items.__Put(x); return true; }
    public bool Remove(T x) { __raddle.Writes(this); return items.Remove(x); }
    public bool Contains(T x) { __raddle.Reads(this); return items.Contains(x); }
    public void UnionWith(object xs) { __raddle.Writes(this); }
    public void ExceptWith(object xs) { __raddle.Writes(this); }
    public void Clear() { __raddle.Writes(this); items = new List<T>(); }
    public int Count { get { __raddle.Reads(this); return items.Count; } }
    public __Enumerator GetEnumerator() { __raddle.Reads(this); return new __Enumerator(items.__Copy(), items.Count, this); }
}
public class SortedSet<T> : HashSet<T> { public SortedSet() { } }
public class LinkedList<T> : ICollection<T> {
    List<T> items = new List<T>();
    public object AddLast(T x) { __raddle.Writes(this); items.__Put(x); return __raddle.Something(); }
    public object AddFirst(T x) { __raddle.Writes(this); items.__Put(x); return __raddle.Something(); }
    public void RemoveFirst() { __raddle.Writes(this); items.RemoveAt(0); }
    public void RemoveLast() { __raddle.Writes(this); items.RemoveAt(0); }
    public bool Remove(T x) { __raddle.Writes(this); return items.Remove(x); }
    public void Clear() { __raddle.Writes(this); items = new List<T>(); }
    public int Count { get { __raddle.Reads(this); return items.Count; } }
    public object First { get { __raddle.Reads(this); return __raddle.Unknown(); } }
    public __Enumerator GetEnumerator() { __raddle.Reads(this); return new __Enumerator(items.__Copy(), items.Count, this); }
}
public class StringBuilder {
    public StringBuilder() { }
    public StringBuilder(object a) { }
    public StringBuilder Append(object a) { __raddle.Writes(this); return this; }
    public StringBuilder Append(object a, object b) { __raddle.Writes(this); return this; }
    public StringBuilder AppendLine() { __raddle.Writes(this); return this; }
    public StringBuilder AppendLine(object a) { __raddle.Writes(this); return this; }
    public StringBuilder AppendFormat(object a, params object[] b) { __raddle.Writes(this); return this; }
    public StringBuilder Clear() { __raddle.Writes(this); return this; }
    public StringBuilder Insert(int at, object a) { __raddle.Writes(this); return this; }
    public StringBuilder Replace(object a, object b) { __raddle.Writes(this); return this; }
    public int Length { get { __raddle.Reads(this); return __raddle.Unknown(); } set { __raddle.Writes(this); } }
    public override string ToString() { __raddle.Reads(this); return __raddle.Something(); }
}
