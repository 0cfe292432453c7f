// expect: nothing
// Two threads let one array grow, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static int[] items = new int[8];

    static void First(int i) {
        lock (gate) {
            Array.Resize(ref items, 8);
        }
    }

    static void Second(int i) {
        lock (gate) {
            Array.Resize(ref items, 8);
        }
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
