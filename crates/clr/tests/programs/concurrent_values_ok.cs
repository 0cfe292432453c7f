// expect: nothing
// The lists in a ConcurrentDictionary, under their locks.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ConcurrentDictionary<int, List<int>> map =
        new ConcurrentDictionary<int, List<int>>();

    static void Work() {
        for (int i = 0; i < 40; i++) {
            var l = map.GetOrAdd(i % 3, _ => new List<int>());
            lock (l) l.Add(i);
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
