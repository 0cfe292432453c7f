// As figure 8, with exchanges.
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
        Volatile.Read(ref action)();
    }
    public void Dispose() {
        timer.Dispose();
        Volatile.Write(ref action, Nop);
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
