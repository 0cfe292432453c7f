// The lists of threads are read while they run.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly ThreadLocal<List<int>> own =
        new ThreadLocal<List<int>>(() => new List<int>(1000), true);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            own.Value.Add(i);    // expect: thread-safety-violation
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        for (int i = 0; i < 40; i++) {
            foreach (var l in own.Values) l.Contains(-1);    // expect: thread-safety-violation
            Thread.Sleep(2);
        }
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
