// An AsyncLocal gives all flows one list.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly AsyncLocal<List<int>> local = new AsyncLocal<List<int>>();

    static async Task Work() {
        for (int i = 0; i < 40; i++) {
            local.Value.Add(i);    // expect: thread-safety-violation
            await Task.Delay(2);
        }
    }

    static async Task Main() {
        local.Value = new List<int>(1000);
        await Task.WhenAll(Task.Run(Work), Task.Run(Work));
        Console.WriteLine("done");
    }
}
