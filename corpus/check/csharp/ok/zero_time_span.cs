// A span of no time is known to be none: what is due now is done here, and by no other thread.
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
        scheduler.Schedule(TimeSpan.Zero, () => count++);
        scheduler.Schedule(TimeSpan.FromSeconds(-1), () => count++);
        scheduler.Schedule(new TimeSpan(0, 0, 5) - TimeSpan.FromSeconds(5), () => count++);
        if (TimeSpan.FromMilliseconds(500) != TimeSpan.FromSeconds(0.5)) scheduler.Schedule(TimeSpan.FromSeconds(1), () => count++);
        scheduler.Schedule(default(TimeSpan), () => count++);
        count++;
    }
}
