// The event is set before the value is written.
using System.Threading;

class Program {
    static readonly ManualResetEventSlim ready = new ManualResetEventSlim();
    static int value;
    static void Main() {
        var thread = new Thread(() => {
            ready.Wait();
            int seen = value; // expect: data-race read #1
        });
        thread.Start();
        ready.Set();
        value = 1; // expect: data-race write #1
        thread.Join();
    }
}
