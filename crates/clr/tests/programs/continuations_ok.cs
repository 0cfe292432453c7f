// expect: nothing
// One task goes on with code that adds to a list, and then with more.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> results = new List<int>(1000);

    static void Note(Task<int> done) {
        results.Add(done.Result);
    }

    static void Main() {
        for (int round = 0; round < 30; round++) {
            Task<int> one = Task.Run(() => { Thread.Sleep(2); return 1; });
            Task first = one.ContinueWith(Note);
            first.ContinueWith(_ => Note(one)).Wait();
        }
        Console.WriteLine("done");
    }
}
