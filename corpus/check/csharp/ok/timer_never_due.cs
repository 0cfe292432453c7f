// A timer that is never due does not tick, and one that ticks once does not race with itself.
using System;
using System.Threading;

class Program {
    static int never;
    static int once;
    static void Main() {
        var idle = new Timer(_ => never++, null, Timeout.Infinite, Timeout.Infinite);
        never = 1;
        var single = new Timer(_ => once++, null, 10, Timeout.Infinite);
        Thread.Sleep(100);
        GC.KeepAlive(idle);
        GC.KeepAlive(single);
    }
}
