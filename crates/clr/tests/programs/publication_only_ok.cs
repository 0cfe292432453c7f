// expect: nothing
// The factories of a Lazy that only publishes fill lists of their own.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Program {
    static List<int> Make(int i) {
        var made = new List<int>();
        made.Add(i);
        Thread.Sleep(1);
        made.Add(i);
        return made;
    }
    static Lazy<List<int>> New(int i) =>
        new Lazy<List<int>>(() => Make(i), LazyThreadSafetyMode.PublicationOnly);
    static readonly Lazy<List<int>>[] all = Enumerable.Range(0, 40).Select(New).ToArray();
    static void First(int i) => all[i].Value.Contains(i);
    static void Second(int i) => all[i].Value.Contains(i);

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
