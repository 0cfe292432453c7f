// The flag is volatile.
using System.Threading;

class Worker {
    volatile bool stop;
    public void Run() {
        while (!stop) {
            Thread.Sleep(1);
        }
    }
    public void Stop() { stop = true; }
}
class Program {
    static void Main() {
        var worker = new Worker();
        var t = new Thread(worker.Run);
        t.Start();
        worker.Stop();
        t.Join();
    }
}
