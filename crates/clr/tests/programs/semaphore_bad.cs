// A semaphore that lets two in, and two that let one in each.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async Task Fill(List<int> list, SemaphoreSlim gate) {
        for (int i = 0; i < 30; i++) {
            await gate.WaitAsync();
            list.Add(i);    // expect: thread-safety-violation
            gate.Release();
            await Task.Delay(2);
        }
    }

    static void Main() {
        var list = new List<int>(1000);
        var both = new SemaphoreSlim(2);
        Task.WaitAll(Fill(list, both), Fill(list, both));
        Task.WaitAll(Fill(list, new SemaphoreSlim(1)), Fill(list, new SemaphoreSlim(1)));
        Console.WriteLine("done");
    }
}
