// A flag remembers it.
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
            while (!ready) Monitor.Wait(gate);
        }
        t.Join();
    }
}
