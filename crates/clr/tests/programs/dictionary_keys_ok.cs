// expect: nothing
// Two tasks write different keys of one Dictionary, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<string, int> prices = new Dictionary<string, int>(1000);

    static void Main() {
        var other = Task.Run(() => {
            for (int i = 0; i < 60; i++) {
                lock (prices) prices["a" + i] = i;
                Thread.Sleep(5);
            }
        });
        for (int i = 0; i < 60; i++) {
            lock (prices) prices["b" + i] = i;
            Thread.Sleep(5);
        }
        other.Wait();
        Console.WriteLine("done");
    }
}
