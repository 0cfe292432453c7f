// Keys are joined while the table grows.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<string, int> table = new Dictionary<string, int>(1000) { ["a"] = 1 };
    static string all;

    static void First(int i) {
        try {
            table["k" + i] = i;    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            all = string.Join(",", table.Keys);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
