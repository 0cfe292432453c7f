// Two threads note what they have seen in one set.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly HashSet<int> seen = new HashSet<int>(1000);

    static void First(int i) {
        seen.Add(i);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        seen.Add(i + 1000);    // expect: thread-safety-violation
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
