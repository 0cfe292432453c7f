// A semaphore lets one in.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1);
    static int count;
    static async Task Work() {
        await gate.WaitAsync();
        try {
            count++;
        } finally {
            gate.Release();
        }
    }
    static async Task Main() {
        var a = Task.Run(Work);
        var b = Task.Run(Work);
        await Task.WhenAll(a, b);
    }
}
