// expect: nothing
// One of two tasks has ended, and the other is waited for.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static async Task Main() {
        for (int i = 0; i < 30; i++) {
            Task slow = Task.Run(() => { Thread.Sleep(1); list.Add(1); }), quick = Task.Run(() => { });
            Task first = await Task.WhenAny(slow, quick);
            await (first == slow ? quick : slow);
            list.Remove(1);
        }
        Console.WriteLine("done");
    }
}
