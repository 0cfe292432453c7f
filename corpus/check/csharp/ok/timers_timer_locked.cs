// The tick of a timer and its starter share a counter under a lock.
using System.Timers;

class Program {
    static int ticks;
    static readonly object gate = new object();
    static void Main() {
        var timer = new Timer(10);
        timer.Elapsed += (sender, e) => { lock (gate) ticks++; };
        timer.Start();
        System.Threading.Thread.Sleep(50);
        lock (gate) ticks = 0;
        timer.Stop();
    }
}
