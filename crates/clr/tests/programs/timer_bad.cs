// A timer adds to a list that the main thread takes from.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> samples = new List<int>(1000);

    static void Sample(object state) {
        samples.Add(1);    // expect: thread-safety-violation
    }

    static void Main() {
        using (new Timer(Sample, null, 0, 3)) {
            for (int i = 0; i < 60; i++) {
                samples.Remove(i);    // expect: thread-safety-violation
                Thread.Sleep(3);
            }
        }
        Thread.Sleep(120);
        Console.WriteLine("done");
    }
}
