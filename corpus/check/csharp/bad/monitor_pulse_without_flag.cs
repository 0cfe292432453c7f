// A pulse that comes before the wait is lost.
using System.Threading;

class Program {
    static readonly object gate = new object();
    static bool ready;
    static void Main() {
        var t = new Thread(() => {
            lock (gate) {
                ready = true;
                Monitor.Pulse(gate);
            }
        });
        t.Start();
        lock (gate) {
             Monitor.Wait(gate); // expect: deadlock #1
        }
        t.Join();
    }
}
