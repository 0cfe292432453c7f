// expect: nothing
// A producer and a consumer share a queue for four items, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly Queue<int> queue = new Queue<int>(1000);

    static void First(int i) {
        lock (gate) {
            queue.Enqueue(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            queue.TryDequeue(out _);
        }
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 4; i++) { First(i); Thread.Sleep(25); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 4; i++) { Second(i); Thread.Sleep(25); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
