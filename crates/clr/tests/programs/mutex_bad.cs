// Two threads have no mutex in common when they use the list: one has a mutex, the other the lock of the same object.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        Mutex left = new Mutex(), right = new Mutex(), both = new Mutex();
        var list = new List<int>(1000);
        var one = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                both.WaitOne();
                both.ReleaseMutex();
                left.WaitOne();
                list.Add(i);    // expect: thread-safety-violation
                left.ReleaseMutex();
                Thread.Sleep(3);
            }
        });
        var two = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                right.WaitOne();
                both.WaitOne();
                both.ReleaseMutex();
                lock (left) list.Add(-i);    // expect: thread-safety-violation
                right.ReleaseMutex();
                Thread.Sleep(3);
            }
        });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
