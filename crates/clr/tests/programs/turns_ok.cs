// expect: nothing
// Two threads use a list in turns, which two events give to each other.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var first = new AutoResetEvent(false);
        var second = new AutoResetEvent(false);
        var list = new List<int>();
        var one = new Thread(() => {
            for (int i = 0; i < 40; i++) { list.Add(i); second.Set(); first.WaitOne(); }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 40; i++) { second.WaitOne(); list.Add(-i); first.Set(); }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
