// It locks.
using System.Threading;

class Program {
    static void Main() {
        int hits = 0;
        var gate = new object();
        void Hit() {
            lock (gate) hits++;
        }
        var t = new Thread(Hit);
        t.Start();
        Hit();
        t.Join();
    }
}
