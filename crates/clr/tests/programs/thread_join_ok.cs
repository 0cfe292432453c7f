// expect: nothing
// A thread goes on with what its creator has begun, and the creator goes on when it has joined it.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 40; round++) {
            list.Add(round);
            var other = new Thread(() => list.Add(-round));
            other.Start();
            other.Join();
            list.RemoveAt(0);
        }
        Console.WriteLine(list.Count == 40 ? "done" : "lost");
    }
}
