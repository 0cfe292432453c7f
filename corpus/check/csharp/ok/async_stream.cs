// A stream and its consumer take turns.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static int produced;
    static async IAsyncEnumerable<int> Numbers() {
        for (int i = 0; i < 3; i++) {
            await Task.Yield();
            produced++;
            yield return i;
        }
    }
    static async Task Main() {
        await foreach (int n in Numbers()) { produced += n; }
        produced++;
    }
}
