// expect: nothing
// Monitor.TryEnter.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            if (Monitor.TryEnter(list, 5000)) {
                list.Add(i);
                Monitor.Exit(list);
            }
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
