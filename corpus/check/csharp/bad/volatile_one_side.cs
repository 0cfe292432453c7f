// A volatile read is of no use if the write is plain.
using System.Threading;

class Program {
    static bool ready;
    static int data;
    static void Main() {
        var thread = new Thread(() => {
            while (!Volatile.Read(ref ready)) { } // expect: data-race #1
            data++; // expect: data-race #2
        });
        thread.Start();
        data = 1; // expect: data-race write #2
        ready = true; // expect: data-race write #1
        thread.Join();
    }
}
