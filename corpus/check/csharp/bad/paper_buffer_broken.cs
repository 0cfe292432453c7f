// Table 3, Buffer Broken: two threads use a queue at once.
using System.Collections.Generic;
using System.Threading;

class BoundedBuffer<T> {
    private readonly Queue<T> queue = new Queue<T>();
    private readonly int limit;
    public BoundedBuffer(int limit) { this.limit = limit; }
    public void Put(T x) {
         {
            while (queue.Count == limit) { Thread.Yield(); } // expect: thread-safety-violation #1
            queue.Enqueue(x); // expect: thread-safety-violation #1
            
        }
    }
    public T Get() {
         {
            while (queue.Count == 0) { Thread.Yield(); } // expect: thread-safety-violation #1
            var x = queue.Dequeue(); // expect: thread-safety-violation #1
            
            return x;
        }
    }
}
class Program {
    static void Main() {
        var buffer = new BoundedBuffer<int>(2);
        var producer = new Thread(() => { for (int i = 0; i < 4; i++) buffer.Put(i); });
        var consumer = new Thread(() => { for (int i = 0; i < 4; i++) buffer.Get(); });
        producer.Start();
        consumer.Start();
        producer.Join();
        consumer.Join();
    }
}
