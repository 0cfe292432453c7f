// Settings are changed while they are read.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections.Specialized;

class Program {
    static readonly NameValueCollection settings = new NameValueCollection();
    static string value;

    static void First(int i) {
        try {
            settings.Set("k" + i % 4, "v");    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            value = settings["k1"];    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } },
            () => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Console.WriteLine("done");
    }
}
