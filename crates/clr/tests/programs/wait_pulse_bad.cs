// What Monitor.Wait has waited for is taken from the queue without the lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Queue<int> queue = new Queue<int>(1000);

    static void Main() {
        var t = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                lock (queue) while (queue.Count == 0) Monitor.Wait(queue, 50);
                Thread.Sleep(1);
                if (queue.Count > 0) queue.Dequeue();    // expect: thread-safety-violation
            }
        });
        t.Start();
        for (int i = 0; i < 80; i++) {
            lock (queue) {
                queue.Enqueue(i);    // expect: thread-safety-violation
                Monitor.Pulse(queue);
            }
            Thread.Sleep(1);
        }
        t.Join();
        Console.WriteLine("done");
    }
}
