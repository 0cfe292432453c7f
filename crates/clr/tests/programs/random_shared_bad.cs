// Two threads draw from one generator.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Random random = new Random(1);
    static int drawn;

    static void First(int i) {
        drawn = random.Next(6);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        drawn = random.Next(100);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
