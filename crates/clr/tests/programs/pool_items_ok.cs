// expect: nothing
// Two threads of the pool wait for a task.
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
            Task fills = Task.Run(() => { list.Add(i); Thread.Sleep(1); });
            ThreadPool.QueueUserWorkItem(_ => { fills.Wait(); done.Signal(); });
            ThreadPool.QueueUserWorkItem(_ => {
                fills.Wait();
                list.Contains(i);
                done.Signal();
            });
            done.Wait();
            fills.Wait();
        }
        Console.WriteLine("done");
    }
}
