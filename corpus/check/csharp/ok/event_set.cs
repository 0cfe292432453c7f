// The other thread sets it.
using System.Threading;

class Program {
    static void Main() {
        var ready = new ManualResetEventSlim();
        var t = new Thread(() => { ready.Set(); });
        t.Start();
        ready.Wait();
        t.Join();
    }
}
