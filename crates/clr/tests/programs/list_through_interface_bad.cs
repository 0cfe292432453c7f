// Parallel.For adds to a List, which it knows as an IList.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        IList<int> results = new List<int>(1000);
        Parallel.For(0, 200, i => {
            Thread.Sleep(1);
            ((ICollection<int>)results).Add(i);    // expect: thread-safety-violation
        });
        Console.WriteLine("done");
    }
}
