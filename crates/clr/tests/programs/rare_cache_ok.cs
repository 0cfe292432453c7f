// expect: nothing
// The same with a lock.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<Type, bool> map = new Dictionary<Type, bool>();

    static bool Get(Type t) {
        lock (map) {
            if (!map.TryGetValue(t, out bool is_)) map[t] = is_ = t.IsClass;
            return is_;
        }
    }

    static void Main() {
        var options = new ParallelOptions { MaxDegreeOfParallelism = 8 };
        Parallel.For(0, 10000, options, i => Get(typeof(IEnumerable)));
        Console.WriteLine("done");
    }
}
