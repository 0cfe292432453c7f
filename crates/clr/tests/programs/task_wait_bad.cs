// The second task waits for a third one, and not for the first, which uses the same dictionary.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var names = new Dictionary<int, string>(1000);
        for (int round = 1; round < 40; round++) {
            Task first = Task.Run(() => { names[round] = "begun"; });    // expect: thread-safety-violation
            Task third = Task.Run(() => Thread.Sleep(1));
            Task<int> second = Task.Factory.StartNew(() => { third.Wait(); names[-round] = "ended"; return round; });    // expect: thread-safety-violation
            Task.WaitAll(first, second);
        }
        Console.WriteLine("done");
    }
}
