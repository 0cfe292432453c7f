// A dictionary is read by an extension of the framework.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000);
    static void First(int i) {
        table[i] = i;    // expect: thread-safety-violation
    }
    static void Second(int i) {
        table.GetValueOrDefault(i);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
