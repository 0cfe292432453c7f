// expect: nothing
// Each thread sorts a copy.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int> { 3, 1, 2 };

    static void First(int i) {
        new List<int>(list).Sort();
    }

    static void Second(int i) {
        new List<int>(list).Sort((x, y) => y - x);
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
