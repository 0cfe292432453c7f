// expect: nothing
// A handler notes each exception that is thrown, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<string> seen = new List<string>(1000);
    static void Fail(int i) {
        try { throw new InvalidOperationException("n" + i); } catch (InvalidOperationException) { }
    }
    static Program() => AppDomain.CurrentDomain.FirstChanceException += (sender, e) => {
        lock (seen) seen.Add(e.Exception.Message);
    };
    static void First(int i) => Fail(i);
    static void Second(int i) => Fail(-i);

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
