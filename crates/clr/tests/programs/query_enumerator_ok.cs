// expect: nothing
// A query that was begun before goes on while its list grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Linq;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };
    static readonly IEnumerator<int> query = list.Where(n => n > 1).Select(n => n * n).GetEnumerator();

    static void First(int i) {
        lock (gate) {
            list.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            try { query.MoveNext(); } catch (InvalidOperationException) { }
        }
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
