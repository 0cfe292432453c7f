// A flag that stops a thread is neither volatile nor guarded.
using System.Threading;

class Worker {
    bool stop;
    public void Run() {
        while (!stop) { // expect: data-race #1
            Thread.Sleep(1);
        }
    }
    public void Stop() { stop = true; } // expect: data-race #1
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
