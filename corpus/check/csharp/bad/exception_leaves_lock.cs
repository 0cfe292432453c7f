// An exception leaves a monitor taken.
using System;
using System.Threading;

class Program {
    static readonly object gate = new object();
    static void Fail() { throw new InvalidOperationException(); }
    static void Work() {
        try {
            Monitor.Enter(gate); // expect: lock-leak #1
            Fail(); Monitor.Exit(gate);
        } catch (InvalidOperationException) { }
    }
    static void Main() {
        var t = new Thread(Work);
        t.Start();
        t.Join();
    }
}
