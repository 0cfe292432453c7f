// Who waits for a task does not wait for what the same thread of the pool did before it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 40; round++) {
            Task unrelated = Task.Run(() => list.Add(round));    // expect: thread-safety-violation
            Thread.Sleep(2);
            Task.Run(() => Thread.Yield()).Wait();
            list.Add(-round);    // expect: thread-safety-violation
            unrelated.Wait();
        }
        Console.WriteLine("done");
    }
}
