// expect: nothing
// Events that say that a list was filled: one that is set once, and one that counts.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 30; round++) {
            var full = new ManualResetEvent(false);
            var used = new CountdownEvent(1);
            var reader = new Thread(() => { full.WaitOne(); list.Reverse(); used.Signal(); });
            reader.Start();
            list.Add(round);
            full.Set();
            used.Wait();
            list.Add(-round);
            reader.Join();
        }
        Console.WriteLine(list.Count == 60 ? "done" : "lost");
    }
}
