// A value task is awaited; one with a value is ready at once.
using System.Threading.Tasks;

class Program {
    static int total;
    static async ValueTask<int> Add(int n) {
        await Task.Yield();
        total += n;
        return total;
    }
    static ValueTask<int> Ready() { return new ValueTask<int>(3); }
    static async Task Main() {
        int sum = await Add(1);
        sum += await Ready();
        total += sum;
        sum += Add(2).AsTask().Result;
        total += sum;
    }
}
