// Two threads set bits that share words.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections;

class Program {
    static readonly BitArray bits = new BitArray(1000);

    static void First(int i) {
        bits.Set(i * 2, true);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        bits[i * 2 + 1] = true;    // expect: thread-safety-violation
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
