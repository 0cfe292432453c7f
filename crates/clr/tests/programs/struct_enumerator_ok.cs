// expect: nothing
// An enumerator in a variable goes on while its dictionary grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000) { [-1] = 1 };
    static Dictionary<int, int>.Enumerator enumerator = table.GetEnumerator();

    static void First(int i) {
        lock (gate) {
            table[i] = i;
        }
    }

    static void Second(int i) {
        lock (gate) {
            try { enumerator.MoveNext(); } catch (InvalidOperationException) { }
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
