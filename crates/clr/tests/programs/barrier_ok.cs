// expect: nothing
// Two threads use a list in turns, one in each phase of a barrier.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var barrier = new Barrier(2);
        var list = new List<int>();
        var one = new Thread(() => {
            for (int i = 0; i < 20; i++) { list.Add(i); barrier.SignalAndWait(); barrier.SignalAndWait(); }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 20; i++) { barrier.SignalAndWait(); list.Add(-i); barrier.SignalAndWait(); }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
