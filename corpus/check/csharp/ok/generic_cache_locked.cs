// It locks.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Cache<K, V> {
    readonly Dictionary<K, V> map = new Dictionary<K, V>();
    public V Get(K key, Func<K, V> make) {
        lock (map) {
            if (!map.TryGetValue(key, out var v)) {
                v = make(key);
                map.Add(key, v);
            }
            return v;
        }
    }
}
class Program {
    static void Main() {
        var cache = new Cache<int, string>();
        var t = Task.Run(() => cache.Get(1, k => "a"));
        cache.Get(2, k => "b");
        t.Wait();
    }
}
