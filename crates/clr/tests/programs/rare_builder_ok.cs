// expect: nothing
// Two threads append to one text twice, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Text;

class Program {
    static readonly object gate = new object();
    static readonly StringBuilder log = new StringBuilder(10000);

    static void First(int i) {
        lock (gate) {
            log.Append(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            log.Append(-i);
        }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 2; i++) { First(i); Thread.Sleep(25); } },
            () => { for (int i = 0; i < 2; i++) { Second(i); Thread.Sleep(25); } });
        Console.WriteLine("done");
    }
}
