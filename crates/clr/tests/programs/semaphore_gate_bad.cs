// A semaphore of one that is used as a signal: who waits for it does not have it alone.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        var signal = new SemaphoreSlim(1);
        ThreadStart use = () => {
            for (int i = 0; i < 40; i++) {
                signal.Wait();
                signal.Release();
                list.Add(i);    // expect: thread-safety-violation
                Thread.Sleep(2);
            }
        };
        var one = new Thread(use);
        var two = new Thread(use);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
