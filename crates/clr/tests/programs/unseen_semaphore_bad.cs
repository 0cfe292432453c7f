// A delegate releases the semaphore before the list is used.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var semaphore = new SemaphoreSlim(1);
        var list = new List<int>(1000);
        Func<int> release = semaphore.Release;
        Func<Task> work = async () => {
            for (int i = 0; i < 40; i++) {
                await semaphore.WaitAsync();
                release();
                list.Add(i);    // expect: thread-safety-violation
                Thread.Sleep(3);
            }
        };
        Task.WaitAll(Task.Run(work), Task.Run(work));
        Console.WriteLine("done");
    }
}
