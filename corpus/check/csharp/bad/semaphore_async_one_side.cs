// One of two asynchronous functions does not take the semaphore.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1);
    static int balance;
    static async Task Deposit() {
        await gate.WaitAsync();
        try {
            await Task.Yield();
            balance++; // expect: data-race #1
        } finally { gate.Release(); }
    }
    static async Task Withdraw() {
        await Task.Yield();
        balance--; // expect: data-race #1
    }
    static async Task Main() { await Task.WhenAll(Deposit(), Withdraw()); }
}
