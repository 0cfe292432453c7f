// Both count atomically.
using System.Threading;

class Program {
    static int count;
    static void Main() {
        var t = new Thread(() => Interlocked.Increment(ref count));
        t.Start();
        Interlocked.Add(ref count, 2);
        t.Join();
    }
}
