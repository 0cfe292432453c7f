// A table is read through IReadOnlyDictionary while it is changed.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly SortedDictionary<int, int> table = new SortedDictionary<int, int>();
    static readonly IReadOnlyDictionary<int, int> view = table;
    static void First(int i) {
        table[i] = i;    // expect: thread-safety-violation
    }
    static void Second(int i) {
        view.TryGetValue(i, out _);    // expect: thread-safety-violation
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
