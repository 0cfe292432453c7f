// A log is appended to while it is made a string.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Text;

class Program {
    static readonly StringBuilder log = new StringBuilder(10000);
    static int length;

    static void First(int i) {
        try {
            log.Append(i);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            length = log.ToString().Length;    // expect: thread-safety-violation
        } catch (Exception) { }
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
