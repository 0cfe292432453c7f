// expect: nothing
// A lock that is taken twice and left once is still held.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            lock (list) {
                lock (list) list.Add(i);
                list.Add(-i);
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
