// An awaiter of ours goes on twice.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static int left = 40;

    class Twice {
        public void OnCompleted(Action a) {
            new Thread(() => a()).Start();
            new Thread(() => a()).Start();
        }
    }

    static void Main() {
        for (int i = 0; i < 20; i++) {
            new Twice().OnCompleted(() => {
                list.Add(1);    // expect: thread-safety-violation
                Interlocked.Decrement(ref left);
            });
            Thread.Sleep(4);
        }
        while (Volatile.Read(ref left) > 0) Thread.Sleep(1);
        Console.WriteLine("done");
    }
}
