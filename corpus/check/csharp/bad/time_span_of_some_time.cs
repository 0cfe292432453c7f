// The twin with half a second: what is due later is done by another thread.
using System;
using System.Threading;

class Scheduler {
    static TimeSpan Normalize(TimeSpan due) { return due.Ticks < 0 ? TimeSpan.Zero : due; }

    public void Schedule(TimeSpan due, Action action) {
        var normal = Normalize(due);
        if (normal.Ticks == 0) {
            action();
            return;
        }
        ThreadPool.QueueUserWorkItem(_ => action());
    }
}

class Program {
    static int count;
    static void Main() {
        var scheduler = new Scheduler();
        scheduler.Schedule(TimeSpan.FromSeconds(0.5), () => {
            count++; // expect: data-race #1
        });
        count++; // expect: data-race #1
    }
}
