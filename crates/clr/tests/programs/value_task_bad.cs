// A ValueTask is awaited after the list was used again.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async ValueTask Put(List<int> l, int i) {
        await Task.Delay(1);
        l.Add(i);    // expect: thread-safety-violation
    }

    static async Task Main() {
        var l = new List<int>(1000);
        for (int i = 0; i < 40; i++) {
            var v = Put(l, i);
            Thread.Sleep(1);
            l.Remove(i);    // expect: thread-safety-violation
            await v;
        }
        Console.WriteLine("done");
    }
}
