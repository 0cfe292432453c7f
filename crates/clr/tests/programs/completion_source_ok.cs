// expect: nothing
// What was done before the task of a source was completed is used by who has awaited it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async Task Round() {
        var list = new List<int>();
        var source = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        Task<int> filled = source.Task;
        var fill = new Thread(() => {
            list.Add(1);
            source.SetResult(1);
        });
        fill.Start();
        await filled;
        list.Add(2);
        fill.Join();
    }

    static async Task Main() {
        for (int i = 0; i < 20; i++) await Round();
        Console.WriteLine("done");
    }
}
