// A thread gives the turn away before it has used the list.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var first = new AutoResetEvent(false);
        var second = new AutoResetEvent(false);
        var list = new List<int>(1000);
        var one = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                second.Set();
                Thread.Sleep(1);
                list.Add(i); // expect: thread-safety-violation
                first.WaitOne();
            }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                second.WaitOne();
                Thread.Sleep(1);
                list.Add(-i); // expect: thread-safety-violation
                first.Set();
            }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
