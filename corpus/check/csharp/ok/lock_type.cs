// A Lock is taken by statement, by scope, and by hand.
using System.Threading;

class Program {
    static readonly Lock gate = new();
    static int count;
    static void Main() {
        var first = new Thread(() => { lock (gate) count++; });
        var second = new Thread(() => { using (gate.EnterScope()) count++; });
        first.Start();
        second.Start();
        gate.Enter();
        try { count++; } finally { gate.Exit(); }
        first.Join();
        second.Join();
    }
}
