// Whether TryEnter took the lock is not asked.
using System.Threading;

class Program {
    static readonly object gate = new object();
    static int count;
    static void Work() {
        bool taken = Monitor.TryEnter(gate);
         {
            count++; // expect: data-race #1
            if (taken) Monitor.Exit(gate);
        }
    }
    static void Main() {
        var t = new Thread(Work);
        t.Start();
        Work();
        t.Join();
    }
}
