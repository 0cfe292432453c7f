// Two tasks write different keys of one Dictionary.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<string, int> prices = new Dictionary<string, int>(1000);

    static void Main() {
        var other = Task.Run(() => {
            for (int i = 0; i < 60; i++) {
                prices["a" + i] = i;    // expect: thread-safety-violation
                Thread.Sleep(5);
            }
        });
        for (int i = 0; i < 60; i++) {
            prices["b" + i] = i;    // expect: thread-safety-violation
            Thread.Sleep(5);
        }
        other.Wait();
        Console.WriteLine("done");
    }
}
