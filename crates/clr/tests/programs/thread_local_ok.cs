// expect: nothing
// Each thread has its own list; they are read when all have ended.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Program {
    static readonly ThreadLocal<List<int>> own =
        new ThreadLocal<List<int>>(() => new List<int>(), true);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            own.Value.Add(i);
            Thread.Sleep(1);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        int n = own.Values.Sum(l => l.Sum());
        Console.WriteLine(n == 1560 ? "done" : "lost");
    }
}
