// expect: nothing
// Tasks that run in the same threads of the pool, each waited for.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 40; round++) {
            Task related = Task.Run(() => list.Add(round));
            Task.Run(() => Thread.Yield()).Wait();
            related.Wait();
            list.Add(-round);
        }
        Console.WriteLine(list.Count == 80 ? "done" : "lost");
    }
}
