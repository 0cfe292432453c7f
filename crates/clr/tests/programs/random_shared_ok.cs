// expect: nothing
// Each thread draws from a generator of its own.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly ThreadLocal<Random> random = new ThreadLocal<Random>(() => new Random(1));
    static int drawn;

    static void First(int i) {
        drawn = random.Value.Next(6);
    }

    static void Second(int i) {
        drawn = random.Value.Next(100);
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
