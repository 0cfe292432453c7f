// expect: nothing
// What a Lazy makes is used under a lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Lazy<List<int>> lazy = new Lazy<List<int>>(() => {
        var l = new List<int>();
        l.Add(0);
        return l;
    });

    static void Work() {
        for (int i = 0; i < 40; i++) {
            lock (lazy) lazy.Value.Add(i);
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
