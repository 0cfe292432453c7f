// expect: nothing
// An extension of the framework reads a dictionary under a lock, and a concurrent one without.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);
    static readonly ConcurrentDictionary<int, int> safe = new ConcurrentDictionary<int, int>();
    static void First(int i) {
        lock (table) table[i] = i;
        safe[i] = i;
    }
    static void Second(int i) {
        lock (table) table.GetValueOrDefault(i);
        safe.GetValueOrDefault(i);
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
