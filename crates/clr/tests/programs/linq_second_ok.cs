// expect: nothing
// A query is evaluated under the lock that its second list is changed under.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Program {
    static readonly List<int> one = new List<int> { 1, 2, 3 }, two = new List<int>(1000) { 1 };
    static readonly IEnumerable<int> query = one.Union(two).Concat(two).Zip(two, (x, y) => x + y);
    static void First(int i) {
        lock (one) two.Add(i);
    }
    static void Second(int i) {
        int n = 0;
        lock (one) foreach (int x in query) n += x;
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
