// expect: nothing
// A static cache that may be shared.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly System.Collections.Concurrent.ConcurrentDictionary<int, string> cache = new System.Collections.Concurrent.ConcurrentDictionary<int, string>();

    static void First(int i) {
        if (!cache.ContainsKey(i))
            cache[i] = i.ToString();
    }

    static void Second(int i) {
        cache.GetOrAdd(i, n => n.ToString());
        new List<int> { i }.Add(1);
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
