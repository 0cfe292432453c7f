// expect: nothing
// A SpinLock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static SpinLock guard = new SpinLock(false);
    static readonly List<int> list = new List<int>(1000);

    static void Work() {
        for (int i = 0; i < 40; i++) {
            bool got = false;
            guard.Enter(ref got);
            list.Add(i);
            guard.Exit();
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
