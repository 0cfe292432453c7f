// The task of a source is completed before the list is used: who awaits it may use the list too.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async Task Round() {
        var list = new List<int>(1000);
        var source = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        Task<int> filled = source.Task;
        var fill = new Thread(() => {
            source.SetResult(1);
            Thread.Sleep(1);
            list.Add(1); // expect: thread-safety-violation
        });
        fill.Start();
        await filled;
        Thread.Sleep(1);
        list.Add(2); // expect: thread-safety-violation
        fill.Join();
    }

    static async Task Main() {
        for (int i = 0; i < 40; i++) await Round();
        Console.WriteLine("done");
    }
}
