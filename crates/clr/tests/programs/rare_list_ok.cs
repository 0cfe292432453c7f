// expect: nothing
// Two threads come to one list three times, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<int> list = new List<int>(1000);

    static void First(int i) {
        lock (gate) {
            list.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            list.Remove(i);
        }
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 3; i++) { First(i); Thread.Sleep(25); } });
        var two = new Thread(() => { for (int i = 0; i < 3; i++) { Second(i); Thread.Sleep(25); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
