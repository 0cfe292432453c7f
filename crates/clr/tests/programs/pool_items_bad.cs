// A thread of the pool waits for a task, and what it does next does not.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static void Main() {
        ThreadPool.SetMinThreads(8, 8);
        for (int round = 0; round < 40; round++) {
            int i = round;
            using var done = new CountdownEvent(2);
            Task fills = Task.Run(() => { list.Add(i); Thread.Sleep(1); });    // expect: thread-safety-violation
            ThreadPool.QueueUserWorkItem(_ => { fills.Wait(); done.Signal(); });
            ThreadPool.QueueUserWorkItem(_ => {
                list.Contains(i);    // expect: thread-safety-violation
                done.Signal();
            });
            done.Wait();
            fills.Wait();
        }
        Console.WriteLine("done");
    }
}
