// expect: nothing
// A parallel query makes a list.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var list = new List<int>();
        for (int round = 0; round < 10; round++)
            list.AddRange(Enumerable.Range(0, 16).AsParallel().Select(i => {
                var own = new List<int>();
                own.Add(i);
                return own.Count;
            }));
        Console.WriteLine(list.Count == 160 ? "done" : "lost");
    }
}
