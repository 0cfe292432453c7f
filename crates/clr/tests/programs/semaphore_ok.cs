// expect: nothing
// Threads and asynchronous methods that have a semaphore while they use a list.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1, 1);

    static async Task Fill(List<int> list) {
        for (int i = 0; i < 30; i++) {
            await gate.WaitAsync().ConfigureAwait(false);
            list.Add(i);
            await Task.Yield();
            list.Add(-i);
            gate.Release();
            await Task.Delay(2);
        }
    }

    static void Main() {
        var list = new List<int>(1000);
        var thread = new Thread(() => {
            for (int i = 0; i < 30; i++) {
                gate.Wait();
                list.Add(i);
                gate.Release();
                Thread.Sleep(2);
            }
        });
        thread.Start();
        Task.WaitAll(Fill(list), Fill(list));
        thread.Join();
        Console.WriteLine(list.Count == 150 ? "done" : "lost");
    }
}
