// What is registered for a cancellation uses the list of all.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int i = 0; i < 40; i++) {
            var c = new CancellationTokenSource();
            c.Token.Register(() => {
                list.Add(1);    // expect: thread-safety-violation
            });
            c.CancelAfter(1);
            Thread.Sleep(2);
            list.Remove(1);    // expect: thread-safety-violation
            c.Token.WaitHandle.WaitOne();
        }
        Thread.Sleep(20);
        Console.WriteLine("done");
    }
}
