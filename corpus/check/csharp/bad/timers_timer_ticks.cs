// The tick of a timer and its starter share a counter.
using System.Timers;

class Program {
    static int ticks;
    static void Main() {
        var timer = new Timer(10);
        timer.Elapsed += (sender, e) => ticks++; // expect: data-race #1
        timer.Start();
        System.Threading.Thread.Sleep(50);
        ticks = 0; // expect: data-race #1
        timer.Stop();
    }
}
