// expect: nothing
// The same list through an interface, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Fill(IList<int> list) {
        for (int i = 0; i < 40; i++) {
            lock (list)
                list.Add(i);
            Thread.Sleep(2);
        }
    }

    static void Main() {
        var list = new List<int>(1000);
        Task.WaitAll(Task.Run(() => Fill(list)), Task.Run(() => Fill(list)));
        Console.WriteLine("done");
    }
}
