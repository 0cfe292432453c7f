// What is done depends on it.
using System.Threading;

class Program {
    static readonly object gate = new object();
    static int count;
    static void Work() {
        bool taken = Monitor.TryEnter(gate);
        if (taken) {
            count++;
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
