// expect: nothing
// One asynchronous method, whose parts run in different threads one after the other.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 60; i++) {
            list.Add(i);
            await Task.Delay(1);
            list[i]++;
            await Task.Yield();
            list.Sort();
        }
        Console.WriteLine("done");
    }
}
