// Both asynchronous functions take the semaphore.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1);
    static int balance;
    static async Task Deposit() {
        await gate.WaitAsync();
        try {
            await Task.Yield();
            balance++;
        } finally { gate.Release(); }
    }
    static async Task Withdraw() {
        await gate.WaitAsync();
        try { balance--; } finally { gate.Release(); }
    }
    static async Task Main() {
        await Task.WhenAll(Deposit(), Withdraw());
        balance = 0;
    }
}
