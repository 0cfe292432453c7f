// A static cache is looked into and then filled.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<int, string> cache = new Dictionary<int, string>(1000);

    static void First(int i) {
        if (!cache.ContainsKey(i))    // expect: thread-safety-violation
            cache[i] = i.ToString();    // expect: thread-safety-violation
    }

    static void Second(int i) {
        if (!cache.ContainsKey(i))    // expect: thread-safety-violation
            cache[i] = i.ToString();    // expect: thread-safety-violation
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
