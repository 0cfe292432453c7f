// Tasks of the concurrent scheduler of the pair.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static void Main() {
        var pair = new ConcurrentExclusiveSchedulerPair();
        var f = new TaskFactory(pair.ConcurrentScheduler);
        var all = Enumerable.Range(0, 80).Select(i => f.StartNew(() => {
            list.Add(i);    // expect: thread-safety-violation
            Thread.Sleep(2);
        })).ToArray();
        Task.WaitAll(all);
        Console.WriteLine("done");
    }
}
