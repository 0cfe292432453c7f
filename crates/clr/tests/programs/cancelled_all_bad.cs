// What waits for a cancelled continuation does not wait for the task before that.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Round() {
        var list = new List<int>(100);
        var cancel = new CancellationTokenSource();
        Task first = Task.Factory.StartNew(() => {
            Thread.Sleep(10);
            list.Add(1);    // expect: thread-safety-violation
        }, TaskCreationOptions.LongRunning);
        Task second = Task.WhenAll(first.ContinueWith(_ => { }, cancel.Token));
        cancel.Cancel();
        Task third = second.ContinueWith(_ => {
            Thread.Sleep(20);
            list.Add(2);    // expect: thread-safety-violation
        }, TaskContinuationOptions.LongRunning);
        Task.WaitAll(first, third);
    }

    static void Main() {
        for (int i = 0; i < 25; i++) Round();
        Console.WriteLine("done");
    }
}
