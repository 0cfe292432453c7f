// expect: nothing
// A table is read through IReadOnlyDictionary under the lock that it is changed under.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly SortedDictionary<int, int> table = new SortedDictionary<int, int>();
    static readonly IReadOnlyDictionary<int, int> view = table;
    static void First(int i) {
        lock (table) table[i] = i;
    }
    static void Second(int i) {
        lock (table) view.TryGetValue(i, out _);
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
