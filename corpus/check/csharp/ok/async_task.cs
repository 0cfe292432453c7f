// A task can be waited for.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int shared;
    static async Task Fire() {
        await Task.Yield();
        shared++;
    }
    static void Main() {
        Fire().Wait();
        shared++;
        Thread.Sleep(50);
    }
}
