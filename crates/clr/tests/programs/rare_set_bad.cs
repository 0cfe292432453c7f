// Two threads come to one set three times.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly HashSet<int> seen = new HashSet<int>(1000);

    static void First(int i) {
        seen.Add(i);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        seen.Contains(i);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 3; i++) { First(i); Thread.Sleep(25); } });
        var two = Task.Run(() => { for (int i = 0; i < 3; i++) { Second(i); Thread.Sleep(25); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
