// A sorted table is read by one thread and written by another.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SortedDictionary<int, int> table = new SortedDictionary<int, int> { [-1] = 0 };

    static void First(int i) {
        try {
            table[i] = i;    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            table.TryGetValue(i, out _);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
