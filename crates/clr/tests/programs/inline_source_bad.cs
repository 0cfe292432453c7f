// Who completes a source runs what waits for it, and the maker goes on.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static async Task Wait(Task<int> task) {
        int i = await task;
        list.Add(i);    // expect: thread-safety-violation
    }
    static async Task Main() {
        for (int i = 0; i < 40; i++) {
            var source = new TaskCompletionSource<int>();
            Task waiter = Wait(source.Task);
            Task setter = Task.Run(() => source.SetResult(i));
            Thread.Sleep(1);
            list.Remove(i);    // expect: thread-safety-violation
            await waiter;
            await setter;
        }
        Console.WriteLine("done");
    }
}
