// expect: nothing
// A generic virtual method adds to a list of its own thread.
using System;
using System.Collections.Generic;
using System.Threading;

abstract class Store {
    public abstract void Put<T>(List<T> to, T value);
}

class Plain : Store {
    public override void Put<T>(List<T> to, T value) {
        to.Add(value);
    }
}

class Program {
    static readonly Store store = new Plain();
    static readonly List<string> one = new List<string>(1000), two = new List<string>(1000);
    static void First(int i) => store.Put(one, "a");
    static void Second(int i) => store.Put(two, "b");

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
