// expect: nothing
// A ConcurrentDictionary may be shared, whatever it is known as.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly IDictionary<string, int> prices = new ConcurrentDictionary<string, int>();

    static void Main() {
        var other = Task.Run(() => {
            for (int i = 0; i < 60; i++) {
                prices["a" + i] = i;
                Thread.Sleep(5);
            }
        });
        for (int i = 0; i < 60; i++) {
            prices["b" + i] = i;
            Thread.Sleep(5);
        }
        other.Wait();
        Console.WriteLine("done");
    }
}
