// A task does not end after what is not attached to it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        for (int round = 0; round < 40; round++) {
            var list = new List<int>(10);
            Task inner = null;
            var t = Task.Factory.StartNew(() => {
                inner = Task.Factory.StartNew(() => {
                    Thread.Sleep(1);
                    list.Add(1);    // expect: thread-safety-violation
                });
            });
            t.Wait();
            Thread.Sleep(1);
            list.Add(2);    // expect: thread-safety-violation
            inner.Wait();
        }
        Console.WriteLine("done");
    }
}
