// A thread uses a list that its creator goes on with before it joins it.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 40; round++) {
            list.Add(round);
            var other = new Thread(() => list.Add(-round));    // expect: thread-safety-violation
            other.Start();
            list.Add(round);    // expect: thread-safety-violation
            other.Join();
        }
        Console.WriteLine("done");
    }
}
