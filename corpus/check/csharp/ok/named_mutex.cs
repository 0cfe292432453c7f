// A named mutex that is owned from the start, unless another process has made it.
using System;
using System.Threading;
using System.Threading.Tasks;

sealed class Guard : IDisposable {
    readonly Mutex mutex;
    public Guard(string name) {
        bool createdNew;
        mutex = new Mutex(true, name, out createdNew);
        if (!createdNew) mutex.WaitOne();
    }
    public void Dispose() { mutex.ReleaseMutex(); mutex.Dispose(); }
}

class Program {
    static void Main() {
        var t = Task.Run(() => { using (new Guard("a")) Console.WriteLine("in"); });
        t.Wait();
    }
}
