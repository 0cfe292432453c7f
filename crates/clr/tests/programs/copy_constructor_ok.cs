// expect: nothing
// A list is copied while it grows, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<string> list = new List<string>(1000) { "x" };
    static List<string> copy;

    static void First(int i) {
        lock (gate) {
            list.Add("y");
        }
    }

    static void Second(int i) {
        lock (gate) {
            copy = new List<string>(list);
        }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
