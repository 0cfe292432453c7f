// Two threads write to one writer.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.IO;

class Program {
    static readonly TextWriter writer = new StringWriter();

    static void First(int i) {
        try {
            writer.Write(i);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            writer.WriteLine("x");    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
