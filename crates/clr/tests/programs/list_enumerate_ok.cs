// expect: nothing
// One thread goes through a list while another adds to it, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };
    static long sum;

    static void First(int i) {
        lock (gate) {
            list.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            foreach (int item in list)
                sum += item;
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
