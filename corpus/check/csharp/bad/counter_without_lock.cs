// Two threads count without a lock.
using System.Threading;

class Program {
    static int counter;
    static readonly object gate = new object();
    static void Work() {
        for (int i = 0; i < 3; i++) {
             { counter++; } // expect: data-race #1
        }
    }
    static void Main() {
        var a = new Thread(Work);
        var b = new Thread(Work);
        a.Start(); b.Start();
        a.Join(); b.Join();
    }
}
