// expect: nothing
// One thread goes through the values of a dictionary while another adds to it, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000) { [-1] = 1 };
    static long sum;

    static void First(int i) {
        lock (gate) {
            table[i] = i;
        }
    }

    static void Second(int i) {
        lock (gate) {
            foreach (int value in table.Values)
                sum += value;
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
