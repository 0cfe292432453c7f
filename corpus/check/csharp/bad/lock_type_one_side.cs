// One side takes the lock, the other does not.
using System.Threading;

class Program {
    static readonly Lock gate = new();
    static int count;
    static void Main() {
        var thread = new Thread(() => {
            lock (gate) count++; // expect: data-race #1
        });
        thread.Start();
        count++; // expect: data-race #1
        thread.Join();
    }
}
