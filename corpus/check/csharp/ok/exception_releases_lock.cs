// A finally block releases it.
using System;
using System.Threading;

class Program {
    static readonly object gate = new object();
    static void Fail() { throw new InvalidOperationException(); }
    static void Work() {
        try {
            Monitor.Enter(gate);
            try { Fail(); } finally { Monitor.Exit(gate); }
        } catch (InvalidOperationException) { }
    }
    static void Main() {
        var t = new Thread(Work);
        t.Start();
        t.Join();
    }
}
