// Two tasks go on with code that adds to one list.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> results = new List<int>(1000);

    static void Note(Task<int> done) {
        results.Add(done.Result);    // expect: thread-safety-violation
    }

    static void Main() {
        for (int round = 0; round < 30; round++) {
            Task<int> one = Task.Run(() => { Thread.Sleep(2); return 1; });
            Task<int> two = Task.Run(() => { Thread.Sleep(2); return 2; });
            Task.WaitAll(one.ContinueWith(Note), two.ContinueWith(Note));
        }
        Console.WriteLine("done");
    }
}
