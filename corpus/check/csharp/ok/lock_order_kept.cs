// Both take them in one order.
using System.Threading;

class Program {
    static readonly object a = new object(), b = new object();
    static void Main() {
        var t = new Thread(() => {
            lock (a) {
                lock (b) { }
            }
        });
        t.Start();
        lock (a) {
            lock (b) { }
        }
        t.Join();
    }
}
