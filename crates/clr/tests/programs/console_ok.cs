// expect: nothing
// Writers that may be shared: the console's, and one that locks although it derives from one that does not.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class SafeRandom : Random {
    public override int Next(int max) {
        lock (this)
            return base.Next(max);
    }
}

class Program {
    static void Main() {
        Random random = new SafeRandom();
        var list = new List<int> { 1 };
        void Draw() {
            for (int i = 0; i < 30; i++) {
                random.Next(6 + list[0]);
                Console.Error.Write("");
                Thread.Sleep(2);
            }
        }
        Task.WaitAll(Task.Run(Draw), Task.Run(Draw));
        Console.WriteLine("done");
    }
}
