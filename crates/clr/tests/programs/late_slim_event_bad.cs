// An answer sets an event, or a time limit does, which nearly always comes later.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Round() {
        var list = new List<int>(1000);
        var ready = new ManualResetEventSlim();
        var answer = new Thread(() => {
            list.Add(1); // expect: thread-safety-violation
            ready.Set();
        });
        var timeout = new Thread(() => {
            Thread.Sleep(20);
            ready.Set();
        });
        timeout.Start();
        answer.Start();
        ready.Wait();
        list.Add(2); // expect: thread-safety-violation
        answer.Join();
        timeout.Join();
    }

    static void Main() {
        for (int i = 0; i < 40; i++) Round();
        Console.WriteLine("done");
    }
}
