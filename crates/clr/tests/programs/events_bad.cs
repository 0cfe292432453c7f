// Events that do not say what the one who waits takes them for: one is set from the beginning, the other by whoever comes first.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Use(int times, Action action) {
        for (int i = 0; i < times; i++) {
            action();
            Thread.Sleep(2);
        }
    }

    static void Main() {
        var list = new List<int>(1000);
        for (int round = 0; round < 6; round++) {
            var full = new ManualResetEventSlim(round < 3);
            var reader = new Thread(() => { full.Wait(); Use(20, () => list.Reverse()); });    // expect: thread-safety-violation
            var other = new Thread(() => full.Set());
            reader.Start();
            other.Start();
            Use(20, () => list.Add(round));    // expect: thread-safety-violation
            full.Set();
            reader.Join();
            other.Join();
        }
        Console.WriteLine("done");
    }
}
