// Two threads have locks, and none in common.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        object left = new object(), right = new object(), both = new object();
        var list = new List<int>(1000);
        var one = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                lock (both) Thread.Yield();
                lock (left) list.Add(i);    // expect: thread-safety-violation
                Thread.Sleep(3);
            }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                lock (both) lock (right) Thread.Yield();
                lock (right) list.Add(-i);    // expect: thread-safety-violation
                Thread.Sleep(3);
            }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
