// expect: nothing
// Two threads write to a synchronized stream.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.IO;

class Program {
    static readonly Stream stream = Stream.Synchronized(new MemoryStream(10000));

    static void First(int i) {
        stream.WriteByte(1);
    }

    static void Second(int i) {
        stream.Write(new byte[4], 0, 4);
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
