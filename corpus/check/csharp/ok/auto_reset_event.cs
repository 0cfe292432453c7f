// An event hands it over.
using System.Threading;

class Program {
    static readonly AutoResetEvent ready = new AutoResetEvent(false);
    static string message;
    static void Main() {
        var t = new Thread(() => {
            ready.WaitOne();
            var copy = message;
        });
        t.Start();
        message = "hello";
        ready.Set();
        t.Join();
    }
}
