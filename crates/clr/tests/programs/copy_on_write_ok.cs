// expect: nothing
// Readers have the list of before; a writer makes another.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static volatile List<int> list = new List<int>();
    static readonly object guard = new object();

    static void Work() {
        for (int i = 0; i < 40; i++) {
            lock (guard) {
                var next = new List<int>(list);
                next.Add(i);
                list = next;
            }
            list.Contains(3);
            foreach (int x in list) if (x < 0) break;
            Thread.Sleep(1);
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
