// A query that was begun before goes on while its list grows.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Linq;

class Program {
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };
    static readonly IEnumerator<int> query = list.Where(n => n > 1).Select(n => n * n).GetEnumerator();

    static void First(int i) {
        list.Add(i);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        try { query.MoveNext(); } catch (InvalidOperationException) { }    // expect: thread-safety-violation
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
