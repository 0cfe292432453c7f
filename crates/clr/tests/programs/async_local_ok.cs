// expect: nothing
// Each flow has its own.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly AsyncLocal<List<int>> local = new AsyncLocal<List<int>>();

    static async Task Work() {
        local.Value = new List<int>();
        for (int i = 0; i < 40; i++) {
            local.Value.Add(i);
            await Task.Delay(2);
        }
    }

    static async Task Main() {
        local.Value = new List<int>(1000);
        local.Value.Add(1);
        await Task.WhenAll(Task.Run(Work), Task.Run(Work));
        local.Value.Add(2);
        Console.WriteLine("done");
    }
}
