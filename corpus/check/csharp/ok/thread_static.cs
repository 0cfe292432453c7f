// Each thread has one of its own.
using System;
using System.Threading;

class Program {
    [ThreadStatic]
    static int depth;
    static void Enter() {
        depth++;
        depth--;
    }
    static void Main() {
        var t = new Thread(Enter);
        t.Start();
        Enter();
        t.Join();
    }
}
