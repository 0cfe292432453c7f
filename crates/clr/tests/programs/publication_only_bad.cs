// The factories of a Lazy that only publishes run at once, and note that in one list.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Program {
    static readonly List<int> made = new List<int>(1000);
    static int Make(int i) {
        Thread.Sleep(1);
        made.Add(i);    // expect: thread-safety-violation
        return i;
    }
    static Lazy<int> New(int i) => new Lazy<int>(() => Make(i), LazyThreadSafetyMode.PublicationOnly);
    static readonly Lazy<int>[] all = Enumerable.Range(0, 40).Select(New).ToArray();
    static void First(int i) => all[i].Value.ToString();
    static void Second(int i) => all[i].Value.ToString();

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
