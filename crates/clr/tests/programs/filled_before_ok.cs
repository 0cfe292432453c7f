// expect: nothing
// Filled before its readers start, and read by all; each has a list of its own.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int Read(Dictionary<int, string> names) {
        var own = new List<string>();
        for (int i = 0; i < 50; i++) {
            own.Add(names[i]);
            Thread.Sleep(2);
        }
        return own.Count;
    }

    static void Main() {
        var names = new Dictionary<int, string>();
        for (int i = 0; i < 100; i++) names[i] = "name " + i;
        var readers = Enumerable.Range(0, 4).Select(n => Task.Run(() => Read(names)));
        Console.WriteLine(Task.WhenAll(readers).Result.Sum() == 200 ? "done" : "wrong");
    }
}
