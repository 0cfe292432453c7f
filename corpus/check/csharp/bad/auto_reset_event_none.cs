// Nothing hands the field over.
using System.Threading;

class Program {
    static readonly AutoResetEvent ready = new AutoResetEvent(false);
    static string message;
    static void Main() {
        var t = new Thread(() => {
            
            var copy = message; // expect: data-race #1
        });
        t.Start();
        message = "hello"; // expect: data-race #1
        ready.Set();
        t.Join();
    }
}
