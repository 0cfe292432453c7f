// expect: nothing
// Who enumerates and who makes take turns.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>();

    static async IAsyncEnumerable<int> Make() {
        for (int i = 0; i < 30; i++) {
            list.Add(i);
            await Task.Delay(1);
            yield return i;
        }
    }

    static async Task Main() {
        await foreach (int i in Make()) {
            list.Add(-i);
            await Task.Yield();
            list.Remove(i);
        }
        Console.WriteLine(list.Count == 30 ? "done" : "lost");
    }
}
