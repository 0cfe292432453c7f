// Two tasks come to one dictionary twice.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);

    static void First(int i) {
        table[i] = i;    // expect: thread-safety-violation
    }

    static void Second(int i) {
        table.TryGetValue(i, out _);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 2; i++) { First(i); Thread.Sleep(25); } });
        var two = Task.Run(() => { for (int i = 0; i < 2; i++) { Second(i); Thread.Sleep(25); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
