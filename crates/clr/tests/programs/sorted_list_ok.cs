// expect: nothing
// Two threads fill a sorted list, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly SortedList<int, string> list = new SortedList<int, string>(1000);

    static void First(int i) {
        lock (gate) {
            list[i] = "first";
        }
    }

    static void Second(int i) {
        lock (gate) {
            list[i + 1000] = "second";
        }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
