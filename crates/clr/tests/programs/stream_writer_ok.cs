// expect: nothing
// Two threads log lines to one file, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.IO;

class Program {
    static readonly object gate = new object();
    static readonly StreamWriter log = new StreamWriter(new MemoryStream(100000));

    static void First(int i) {
        lock (gate) {
            log.WriteLine("first");
        }
    }

    static void Second(int i) {
        lock (gate) {
            log.WriteLine("second");
        }
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
