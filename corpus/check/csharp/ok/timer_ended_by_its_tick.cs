// Ticks that dispose of their timer: under the lock that the next tick takes, and with a timer that
// ticks once.
using System;
using System.Threading;

class Poller : IDisposable {
    Action action;
    Timer timer;
    readonly object gate = new object();

    public Poller(Action action) {
        this.action = action;
        lock (gate) {
            timer = new Timer(Tick, null, 10, 10);
        }
    }

    void Tick(object state) {
        lock (gate) {
            action();
        }
    }

    public void Dispose() {
        lock (gate) {
            Timer t = timer;
            if (t != null) {
                action = () => { };
                timer = null;
                t.Dispose();
            }
        }
    }
}

class Once {
    int fired;
    Timer timer;
    readonly object gate = new object();

    public void Start() {
        lock (gate) {
            timer = new Timer(Tick, null, 10, Timeout.Infinite);
        }
    }

    void Tick(object state) {
        fired++;
        lock (gate) {
            timer.Dispose();
        }
    }
}

class Program {
    static Poller poller;
    static readonly object gate = new object();

    static void Collect() {
        lock (gate) {
            poller.Dispose();
        }
    }

    static void Main() {
        lock (gate) {
            poller = new Poller(Collect);
        }
        new Once().Start();
        Thread.Sleep(100);
    }
}
