// Two threads use a list in the same phase of a barrier.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var barrier = new Barrier(2);
        var list = new List<int>(1000);
        void Work(int sign) {
            for (int i = 0; i < 40; i++) {
                barrier.SignalAndWait();
                Thread.Sleep(2);
                list.Add(sign * i); // expect: thread-safety-violation
            }
        }
        var one = new Thread(() => Work(1));
        var two = new Thread(() => Work(-1));
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
