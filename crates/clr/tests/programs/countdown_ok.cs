// expect: nothing
// Events that count signals say that a list was filled and that it was used.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 30; round++) {
            var full = new CountdownEvent(1);
            var used = new CountdownEvent(1);
            var reader = new Thread(() => { full.Wait(); list.Reverse(); used.Signal(); });
            reader.Start();
            list.Add(round);
            full.Signal();
            used.Wait();
            list.Add(-round);
            reader.Join();
        }
        Console.WriteLine(list.Count == 60 ? "done" : "lost");
    }
}
