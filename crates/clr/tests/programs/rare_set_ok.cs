// expect: nothing
// Two threads come to one set three times, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly HashSet<int> seen = new HashSet<int>(1000);

    static void First(int i) {
        lock (gate) {
            seen.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            seen.Contains(i);
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 3; i++) { First(i); Thread.Sleep(25); } });
        var two = Task.Run(() => { for (int i = 0; i < 3; i++) { Second(i); Thread.Sleep(25); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
