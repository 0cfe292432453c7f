// The pool waits for an event and then uses the list.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>(1000);
        var e = new AutoResetEvent(false);
        var r = ThreadPool.RegisterWaitForSingleObject(e, (s, t) => {
            list.Add(1);    // expect: thread-safety-violation
        }, null, -1, false);
        for (int i = 0; i < 40; i++) {
            e.Set();
            Thread.Sleep(1);
            list.Remove(1);    // expect: thread-safety-violation
            Thread.Sleep(1);
        }
        r.Unregister(null);
        Thread.Sleep(10);
        Console.WriteLine("done");
    }
}
