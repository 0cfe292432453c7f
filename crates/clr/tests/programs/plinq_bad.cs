// A parallel query adds to a list.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(10000);

    static void Main() {
        for (int round = 0; round < 10; round++)
            Enumerable.Range(0, 16).AsParallel().ForAll(i => {
                Thread.Sleep(2);
                list.Add(i);    // expect: thread-safety-violation
            });
        Console.WriteLine("done");
    }
}
