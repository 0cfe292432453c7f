// expect: nothing
// A ValueTask is awaited before the list is used again.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async ValueTask Put(List<int> l, int i) {
        l.Add(i);
        await Task.Delay(1);
        l.Remove(i);
    }

    static async Task Main() {
        var l = new List<int>();
        for (int i = 0; i < 30; i++) {
            await Put(l, i);
            l.Add(i);
        }
        Console.WriteLine(l.Count == 30 ? "done" : "lost");
    }
}
