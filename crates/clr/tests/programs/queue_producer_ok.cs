// expect: nothing
// A producer and a consumer share a queue, under one lock.
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
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
