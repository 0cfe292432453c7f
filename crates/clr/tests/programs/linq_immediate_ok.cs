// expect: nothing
// A list is counted while it grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Linq;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };
    static int count;

    static void First(int i) {
        lock (gate) {
            list.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            count = list.Count(n => n > 2);
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
