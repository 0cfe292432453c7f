// expect: nothing
// Settings are changed while they are read, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections.Specialized;

class Program {
    static readonly object gate = new object();
    static readonly NameValueCollection settings = new NameValueCollection();
    static string value;

    static void First(int i) {
        lock (gate) {
            settings.Set("k" + i % 4, "v");
        }
    }

    static void Second(int i) {
        lock (gate) {
            value = settings["k1"];
        }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
