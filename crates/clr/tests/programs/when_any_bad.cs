// One of two tasks has ended; the other goes on.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static void Slow() {
        for (int i = 0; i < 3; i++) {
            Thread.Sleep(2);
            list.Add(1);    // expect: thread-safety-violation
        }
    }
    static async Task Main() {
        for (int i = 0; i < 30; i++) {
            Task slow = Task.Run(Slow), quick = Task.Run(() => { });
            await Task.WhenAny(slow, quick);
            Thread.Sleep(1);
            list.Remove(1);    // expect: thread-safety-violation
            await slow;
        }
        Console.WriteLine("done");
    }
}
