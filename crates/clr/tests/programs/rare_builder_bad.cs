// Two threads append to one text twice.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Text;

class Program {
    static readonly StringBuilder log = new StringBuilder(10000);

    static void First(int i) {
        log.Append(i);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        log.Append(-i);    // expect: thread-safety-violation
    }

    static void Main() {
        Parallel.Invoke(
            () => { for (int i = 0; i < 2; i++) { First(i); Thread.Sleep(25); } },
            () => { for (int i = 0; i < 2; i++) { Second(i); Thread.Sleep(25); } });
        Console.WriteLine("done");
    }
}
