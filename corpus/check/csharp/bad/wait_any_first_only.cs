// Only one of two events is waited for.
using System.Threading;

class Program {
    static int value;
    static void Main() {
        var events = new[] { new ManualResetEvent(false), new ManualResetEvent(false) };
        var first = new Thread(() => { events[0].Set(); });
        var second = new Thread(() => { value = 1; events[1].Set(); }); // expect: data-race write #1
        first.Start();
        second.Start();
        WaitHandle.WaitAny(events);
        int seen = value; // expect: data-race read #1
        first.Join();
        second.Join();
    }
}
