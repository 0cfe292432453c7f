// expect: nothing
// A producer and a consumer that wait for each other with Monitor.Wait and Monitor.Pulse.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Queue<int> queue = new Queue<int>();

    static void Main() {
        var consumer = new Thread(() => {
            for (int n = 0; n < 60; n++)
                lock (queue) {
                    while (queue.Count == 0)
                        Monitor.Wait(queue);
                    queue.Dequeue();
                }
        });
        consumer.Start();
        for (int i = 0; i < 60; i++) {
            lock (queue) {
                queue.Enqueue(i);
                Monitor.Pulse(queue);
            }
            Thread.Sleep(1);
        }
        consumer.Join();
        Console.WriteLine("done");
    }
}
