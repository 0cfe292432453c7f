// A SemaphoreSlim is not reentrant.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1, 1);
    static async Task Inner() {
        await gate.WaitAsync(); // expect: deadlock #1
        gate.Release();
    }
    static async Task Main() {
        await gate.WaitAsync();
        await Inner(); // expect: deadlock #1
        gate.Release();
    }
}
