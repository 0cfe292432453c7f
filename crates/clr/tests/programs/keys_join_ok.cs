// expect: nothing
// Keys are joined while the table grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly Dictionary<string, int> table = new Dictionary<string, int>(1000) { ["a"] = 1 };
    static string all;

    static void First(int i) {
        lock (gate) {
            table["k" + i] = i;
        }
    }

    static void Second(int i) {
        lock (gate) {
            all = string.Join(",", table.Keys);
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
