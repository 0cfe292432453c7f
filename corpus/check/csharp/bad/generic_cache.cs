// A generic class is used by two threads.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Cache<K, V> {
    readonly Dictionary<K, V> map = new Dictionary<K, V>();
    public V Get(K key, Func<K, V> make) {
         {
            if (!map.TryGetValue(key, out var v)) { // expect: thread-safety-violation #1
                v = make(key);
                map.Add(key, v); // expect: thread-safety-violation #1
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
