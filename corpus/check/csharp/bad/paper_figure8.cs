// Figure 8: the action is replaced while a tick may run it.
using System;
using System.Threading;

class PeriodicTimer {
    private Action action;
    private Timer timer;
    public PeriodicTimer(Action action) {
        this.action = action;
        timer = new Timer(Tick, null, 10, 10);
    }
    private void Tick(object state) {
        action(); // expect: data-race #1
    }
    public void Dispose() {
        timer.Dispose();
        action = Nop; // expect: data-race #1
    }
    static void Nop() { }
}
class Program {
    static void Main() {
        var timer = new PeriodicTimer(() => { });
        Thread.Sleep(30);
        timer.Dispose();
    }
}
