// Two threads take two locks in different orders.
using System.Threading;

class Program {
    static readonly object a = new object(), b = new object();
    static void Main() {
        var t = new Thread(() => {
            lock (a) {
                lock (b) { } // expect: deadlock #1
            }
        });
        t.Start();
        lock (b) {
            lock (a) { } // expect: deadlock #1
        }
        t.Join();
    }
}
