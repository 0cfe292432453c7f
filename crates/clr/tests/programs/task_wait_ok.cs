// expect: nothing
// A task goes on with what its creator has begun, another waits for that one, and the creator for both.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var names = new Dictionary<int, string>();
        for (int round = 0; round < 40; round++) {
            names[round] = "created";
            Task first = Task.Run(() => { names[round] += ", begun"; });
            Task<int> second = Task.Factory.StartNew(() => { first.Wait(); names[-round] = "ended"; return round; });
            Task.WaitAll(first, second);
            names[second.Result] += ".";
            Thread.Sleep(1);
        }
        Console.WriteLine(names[9] == "created, begun." ? "done" : names[9]);
    }
}
