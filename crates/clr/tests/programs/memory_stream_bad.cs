// Two threads write to one stream.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.IO;

class Program {
    static readonly MemoryStream stream = new MemoryStream(10000);

    static void First(int i) {
        stream.WriteByte(1);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        stream.Write(new byte[4], 0, 4);    // expect: thread-safety-violation
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
