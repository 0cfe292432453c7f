// expect: nothing
// Two threads have the lock of the list in common, among others that they do not share.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        object left = new object(), right = new object();
        var list = new List<int>(1000);
        var one = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                lock (left) lock (list) list.Add(i);
                Thread.Sleep(3);
            }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                lock (list) lock (right) list.Add(-i);
                Thread.Sleep(3);
            }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine(list.Count == 80 ? "done" : "lost");
    }
}
