// Both events are waited for.
using System.Threading;

class Program {
    static int value;
    static void Main() {
        var events = new WaitHandle[] { new ManualResetEvent(false), new AutoResetEvent(false) };
        var first = new Thread(() => { ((ManualResetEvent)events[0]).Set(); });
        var second = new Thread(() => { value = 1; ((AutoResetEvent)events[1]).Set(); });
        first.Start();
        second.Start();
        WaitHandle.WaitAll(events);
        int seen = value;
    }
}
