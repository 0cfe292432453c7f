// A list is copied while it grows.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<string> list = new List<string>(1000) { "x" };
    static List<string> copy;

    static void First(int i) {
        try {
            list.Add("y");    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            copy = new List<string>(list);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
