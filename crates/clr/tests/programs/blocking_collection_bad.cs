// A list is handed over and used all the same.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var q = new BlockingCollection<List<int>>();
        var t = new Thread(() => {
            foreach (var l in q.GetConsumingEnumerable()) {
                Thread.Sleep(1);
                l.Add(1);    // expect: thread-safety-violation
            }
        });
        t.Start();
        var list = new List<int>(1000);
        for (int i = 0; i < 40; i++) {
            q.Add(list);
            Thread.Sleep(1);
            list.Add(0);    // expect: thread-safety-violation
            Thread.Sleep(1);
        }
        q.CompleteAdding();
        t.Join();
        Console.WriteLine("done");
    }
}
