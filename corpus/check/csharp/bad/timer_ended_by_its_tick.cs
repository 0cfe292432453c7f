// A tick disposes of its timer, while the next one may have begun already: the paper's figure 8.
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
        action(); // expect: data-race #1
    }

    public void Dispose() {
        lock (gate) {
            Timer t = timer;
            if (t != null) {
                action = () => { }; // expect: data-race #1
                timer = null;
                t.Dispose();
            }
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
        Thread.Sleep(100);
    }
}
