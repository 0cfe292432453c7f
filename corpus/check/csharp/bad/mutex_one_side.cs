// One side does not take the mutex.
using System.Threading;

class Program {
    static readonly Mutex mutex = new Mutex();
    static int count;
    static void Main() {
        var t = new Thread(() => {
            mutex.WaitOne();
            count++; // expect: data-race #1
            mutex.ReleaseMutex();
        });
        t.Start();
        
        count++; // expect: data-race #1
        
        t.Join();
    }
}
