// A stream goes on while its consumer works beside it.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static int produced;
    static async IAsyncEnumerable<int> Numbers() {
        for (int i = 0; i < 3; i++) {
            await Task.Yield();
            produced++; // expect: data-race #1
            yield return i;
        }
    }
    static async Task Consume() {
        await foreach (int n in Numbers()) { }
    }
    static async Task Main() {
        Task first = Consume();
        produced++; // expect: data-race #1
        await first;
    }
}
