// expect: nothing
// Two tasks come to one dictionary twice, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);

    static void First(int i) {
        lock (gate) {
            table[i] = i;
        }
    }

    static void Second(int i) {
        lock (gate) {
            table.TryGetValue(i, out _);
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 2; i++) { First(i); Thread.Sleep(25); } });
        var two = Task.Run(() => { for (int i = 0; i < 2; i++) { Second(i); Thread.Sleep(25); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
