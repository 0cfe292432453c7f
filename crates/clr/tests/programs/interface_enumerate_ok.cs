// expect: nothing
// A list is gone through as IEnumerable while it grows, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };

    static long Sum(IEnumerable<int> items) {
        long sum = 0;
        try {
            lock (gate)
                foreach (int item in items)
                sum += item;
        } catch (InvalidOperationException) { }
        return sum;
    }

    static void Main() {
        var one = Task.Run(() => {
            for (int i = 0; i < 40; i++) {
                lock (gate)
                    list.Add(i);
                Thread.Sleep(3);
            }
        });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Sum(list); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
