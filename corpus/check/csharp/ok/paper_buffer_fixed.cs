// Table 3, Buffer Fixed: the buffer is a monitor.
using System.Collections.Generic;
using System.Threading;

class BoundedBuffer<T> {
    private readonly Queue<T> queue = new Queue<T>();
    private readonly int limit;
    public BoundedBuffer(int limit) { this.limit = limit; }
    public void Put(T x) {
        lock (this) {
            while (queue.Count == limit) { Monitor.Wait(this); }
            queue.Enqueue(x);
            Monitor.PulseAll(this);
        }
    }
    public T Get() {
        lock (this) {
            while (queue.Count == 0) { Monitor.Wait(this); }
            var x = queue.Dequeue();
            Monitor.PulseAll(this);
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
