// expect: nothing
// A list is filled by one thread, and read by another once an event says that it is full.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        for (int round = 0; round < 20; round++) {
            var list = new List<int>();
            var full = new ManualResetEventSlim();
            long sum = 0;
            var reader = new Thread(() => { full.Wait(); foreach (int item in list) sum += item; });
            reader.Start();
            for (int i = 0; i < 10; i++)
                list.Add(i);
            full.Set();
            reader.Join();
        }
        Console.WriteLine("done");
    }
}
