// expect: nothing
// Two threads fill a synchronized ArrayList.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections;

class Program {
    static readonly ArrayList list = ArrayList.Synchronized(new ArrayList(1000));

    static void First(int i) {
        list.Add(i);
    }

    static void Second(int i) {
        list.Add(-i);
    }

    static void Main() {
        using var done = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } done.Signal(); });
        ThreadPool.QueueUserWorkItem(_ => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } done.Signal(); });
        done.Wait();
        Console.WriteLine("done");
    }
}
