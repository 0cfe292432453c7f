// expect: nothing
// Two threads write to a synchronized writer.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.IO;

class Program {
    static readonly TextWriter writer = TextWriter.Synchronized(new StringWriter());

    static void First(int i) {
        writer.Write(i);
    }

    static void Second(int i) {
        writer.WriteLine("x");
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
