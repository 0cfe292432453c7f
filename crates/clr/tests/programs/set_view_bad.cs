// A view between two values of a set is enumerated while the set is changed.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Program {
    static readonly SortedSet<int> set = new SortedSet<int>(Enumerable.Range(0, 20));
    static void First(int i) {
        set.Add(1000 + i);    // expect: thread-safety-violation
    }
    static void Second(int i) {
        int n = 0;
        try {
            foreach (int x in set.GetViewBetween(0, 10)) n += x;    // expect: thread-safety-violation
        } catch (InvalidOperationException) { } catch (NullReferenceException) { }
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
