// The event is set after the value is written.
using System.Threading;

class Program {
    static readonly ManualResetEventSlim ready = new ManualResetEventSlim();
    static int value;
    static void Main() {
        var thread = new Thread(() => {
            ready.Wait();
            int seen = value;
        });
        thread.Start();
        value = 1;
        ready.Set();
        thread.Join();
    }
}
