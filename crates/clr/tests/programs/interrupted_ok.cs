// expect: nothing
// A thread that is interrupted while it works gets the exception at its next wait.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        var list = new List<int>();
        bool got = false;
        var thread = new Thread(() => {
            for (int i = 0; i < 1000000 && !got; i++) {
                lock (list) list.Add(i);
                if (i % 1000 == 0) try { Thread.Sleep(1); } catch (ThreadInterruptedException) { got = true; }
            }
        });
        thread.Start();
        Thread.Sleep(5);
        lock (list) list.Add(-1);
        thread.Interrupt();
        thread.Join();
        Console.WriteLine(got ? "done" : "lost");
    }
}
