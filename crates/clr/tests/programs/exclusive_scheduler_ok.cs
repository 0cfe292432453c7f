// expect: nothing
// Tasks of an exclusive scheduler.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>();

    static void Main() {
        var pair = new ConcurrentExclusiveSchedulerPair();
        var f = new TaskFactory(pair.ExclusiveScheduler);
        var all = Enumerable.Range(0, 40).Select(i => f.StartNew(() => {
            list.Add(i);
            Thread.Sleep(1);
        })).ToArray();
        Task.WaitAll(all);
        Console.WriteLine(list.Count == 40 ? "done" : "lost");
    }
}
