// One side counts atomically, the other does not.
using System.Threading;

class Program {
    static int count;
    static void Main() {
        var t = new Thread(() => Interlocked.Increment(ref count)); // expect: data-race #1
        t.Start();
        count++; // expect: data-race #1
        t.Join();
    }
}
