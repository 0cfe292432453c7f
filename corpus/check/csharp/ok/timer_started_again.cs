// A timer that its own tick starts again does not overlap itself.
using System;
using System.Threading;

class Program {
    static int count;
    static Timer timer;
    static void Main() {
        timer = new Timer(Tick, null, Timeout.Infinite, Timeout.Infinite);
        timer.Change(1, Timeout.Infinite);
        Thread.Sleep(100);
    }
    static void Tick(object state) {
        count++;
        timer.Change(1, Timeout.Infinite);
    }
}
