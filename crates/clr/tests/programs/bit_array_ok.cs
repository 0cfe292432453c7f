// expect: nothing
// Two threads set bits that share words, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections;

class Program {
    static readonly object gate = new object();
    static readonly BitArray bits = new BitArray(1000);

    static void First(int i) {
        lock (gate) {
            bits.Set(i * 2, true);
        }
    }

    static void Second(int i) {
        lock (gate) {
            bits[i * 2 + 1] = true;
        }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
