// The action after each phase of a barrier changes the list, which a thread without the barrier reads.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static readonly Barrier barrier = new Barrier(2, b => {
        list.Add((int)b.CurrentPhaseNumber);    // expect: thread-safety-violation
    });
    static void Work() {
        for (int i = 0; i < 40; i++) {
            Thread.Sleep(1);
            barrier.SignalAndWait();
        }
    }
    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        for (int i = 0; i < 40; i++) {
            list.IndexOf(-1);    // expect: thread-safety-violation
            Thread.Sleep(2);
        }
        one.Join();
        two.Join();
        list.Contains(3);
        Console.WriteLine("done");
    }
}
