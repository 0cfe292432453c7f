// expect: nothing
// The smallest of a sorted set is looked for while it grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly SortedSet<int> set = new SortedSet<int> { 0 };
    static int least;

    static void First(int i) {
        lock (gate) {
            set.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            least = set.Min;
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
