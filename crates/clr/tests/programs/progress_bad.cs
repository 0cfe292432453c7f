// Reports of progress come by the pool.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        IProgress<int> p = new Progress<int>(i => {
            list.Add(i);    // expect: thread-safety-violation
        });
        for (int i = 0; i < 40; i++) {
            p.Report(i);
            p.Report(i);
            Thread.Sleep(3);
        }
        Thread.Sleep(10);
        Console.WriteLine("done");
    }
}
