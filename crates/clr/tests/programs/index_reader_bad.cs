// A list is indexed while its items are replaced.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(new int[100]);
    static int last;

    static void First(int i) {
        list[i] = i;    // expect: thread-safety-violation
    }

    static void Second(int i) {
        last = list[i];    // expect: thread-safety-violation
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
