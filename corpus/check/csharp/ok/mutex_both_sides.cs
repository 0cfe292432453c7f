// Both do.
using System.Threading;

class Program {
    static readonly Mutex mutex = new Mutex();
    static int count;
    static void Main() {
        var t = new Thread(() => {
            mutex.WaitOne();
            count++;
            mutex.ReleaseMutex();
        });
        t.Start();
        mutex.WaitOne();
        count++;
        mutex.ReleaseMutex();
        t.Join();
    }
}
