// An answer completes a task, or a time limit tries to, after which the answer comes in vain.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Round() {
        var list = new List<int>(1000);
        var source = new TaskCompletionSource<int>();
        var answer = new Thread(() => {
            list.Add(1); // expect: thread-safety-violation
            try { source.SetResult(1); } catch (InvalidOperationException) { }
        });
        var timeout = new Thread(() => {
            Thread.Sleep(20);
            source.TrySetResult(2);
        });
        timeout.Start();
        answer.Start();
        source.Task.Wait();
        list.Add(2); // expect: thread-safety-violation
        answer.Join();
        timeout.Join();
    }

    static void Main() {
        for (int i = 0; i < 40; i++) Round();
        Console.WriteLine("done");
    }
}
