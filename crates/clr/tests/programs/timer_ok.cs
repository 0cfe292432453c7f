// expect: nothing
// A timer adds to a list that the main thread takes from, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> samples = new List<int>(1000);
    static readonly object gate = new object();

    static void Sample(object state) {
        lock (gate)
            samples.Add(1);
    }

    static void Main() {
        using (new Timer(Sample, null, 0, 3)) {
            for (int i = 0; i < 60; i++) {
                lock (gate)
                    samples.Remove(i);
                Thread.Sleep(3);
            }
        }
        Thread.Sleep(120);
        Console.WriteLine("done");
    }
}
