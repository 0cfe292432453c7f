// expect: nothing
// Tasks fill parts, then one thread merges, again and again.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        for (int r = 0; r < 10; r++) {
            var parts = new List<int>[4];
            Parallel.For(0, 4, i => {
                var l = new List<int>();
                for (int k = 0; k < 5; k++) {
                    l.Add(k);
                    Thread.Sleep(1);
                }
                parts[i] = l;
            });
            var all = new List<int>();
            foreach (var q in parts) all.AddRange(q);
            if (all.Count != 20) Console.WriteLine("lost");
        }
        Console.WriteLine("done");
    }
}
