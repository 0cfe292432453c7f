// expect: nothing
// A log is appended to while it is made a string, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Text;

class Program {
    static readonly object gate = new object();
    static readonly StringBuilder log = new StringBuilder(10000);
    static int length;

    static void First(int i) {
        lock (gate) {
            log.Append(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            length = log.ToString().Length;
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
