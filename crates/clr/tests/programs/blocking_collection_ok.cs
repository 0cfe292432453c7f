// expect: nothing
// A list is handed over through a BlockingCollection.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var q = new BlockingCollection<List<int>>();
        var back = new BlockingCollection<List<int>>();
        var t = new Thread(() => {
            foreach (var l in q.GetConsumingEnumerable()) {
                l.Add(1);
                back.Add(l);
            }
        });
        t.Start();
        var list = new List<int>();
        for (int i = 0; i < 20; i++) {
            list.Add(0);
            q.Add(list);
            list = back.Take();
            list.Add(2);
            Thread.Sleep(1);
        }
        q.CompleteAdding();
        t.Join();
        Console.WriteLine(list.Count == 60 ? "done" : "lost");
    }
}
