// Nobody waits for the value task.
using System.Threading.Tasks;

class Program {
    static int total;
    static async ValueTask Add(int n) {
        await Task.Yield();
        total += n; // expect: data-race #1
    }
    static async Task Main() {
        ValueTask adding = Add(1);
        total += 2; // expect: data-race #1
        await adding;
    }
}
