// expect: nothing
// A static constructor fills a list that two threads read, whichever of them runs it.
using System;
using System.Collections.Generic;
using System.Threading;

static class Names {
    public static readonly List<string> All = new List<string>();
    static Names() {
        for (int i = 0; i < 20; i++) { All.Add("name " + i); Thread.Sleep(1); }
    }
}

class Program {
    static int found;

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 20; i++) { found += Names.All.IndexOf("name 1"); Thread.Sleep(1); } });
        var two = new Thread(() => { for (int i = 0; i < 20; i++) { found += Names.All.IndexOf("name 2"); Thread.Sleep(1); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
