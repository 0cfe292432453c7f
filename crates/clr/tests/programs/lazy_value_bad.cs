// What a Lazy makes is used by all.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Lazy<List<int>> lazy = new Lazy<List<int>>(() => new List<int>(1000));

    static void Work() {
        for (int i = 0; i < 40; i++) {
            lazy.Value.Add(i);    // expect: thread-safety-violation
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
