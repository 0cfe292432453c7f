// Nobody sets the event.
using System.Threading;

class Program {
    static void Main() {
        var ready = new ManualResetEventSlim();
        var t = new Thread(() => {  });
        t.Start();
        ready.Wait(); // expect: deadlock #1
        t.Join();
    }
}
