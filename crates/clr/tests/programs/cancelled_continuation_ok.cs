// expect: nothing
// A continuation is cancelled when it has run, or not before the task before it has ended.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Round(bool lazily) {
        var list = new List<int>(100);
        var cancel = new CancellationTokenSource();
        Task first = Task.Factory.StartNew(() => {
            Thread.Sleep(2);
            list.Add(1);
        }, TaskCreationOptions.LongRunning);
        var options = lazily ? TaskContinuationOptions.LazyCancellation : TaskContinuationOptions.None;
        Task second = first.ContinueWith(_ => list.Add(2), cancel.Token, options, TaskScheduler.Default);
        if (!lazily) second.Wait();
        cancel.Cancel();
        Task.WhenAll(second).ContinueWith(_ => list.Add(3)).Wait();
    }

    static void Main() {
        for (int i = 0; i < 20; i++) Round(i % 2 == 0);
        Console.WriteLine("done");
    }
}
