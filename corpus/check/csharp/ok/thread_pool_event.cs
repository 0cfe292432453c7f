// An event says that it is done.
using System.Threading;

class Program {
    static int field;
    static void Main() {
        var done = new ManualResetEvent(false);
        ThreadPool.QueueUserWorkItem(_ => { field = 1; done.Set(); });
        done.WaitOne();
        field++;
    }
}
