// A static field is shared by all threads.
using System.Threading;

class Program {
    // Shared.
    static int depth;
    static void Enter() {
        depth++; // expect: data-race #1
        depth--; // expect: data-race #1
    }
    static void Main() {
        var t = new Thread(Enter);
        t.Start();
        Enter();
        t.Join();
    }
}
