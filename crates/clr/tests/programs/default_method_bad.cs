// A default method of an interface changes a list.
using System;
using System.Collections.Generic;
using System.Threading;

interface IKeeps {
    List<int> Items { get; }
    void Keep(int i) {
        Items.Add(i);    // expect: thread-safety-violation
    }
}

class Keeper : IKeeps {
    public List<int> Items { get; } = new List<int>(1000);
}

class Program {
    static readonly IKeeps keeper = new Keeper();
    static void First(int i) => keeper.Keep(i);
    static void Second(int i) => keeper.Keep(-i);

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
