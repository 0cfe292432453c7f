// An asynchronous method that fills a cache, in a state machine that the compiler makes.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Cache {
    readonly Dictionary<int, int> squares = new Dictionary<int, int>(1000);

    public async Task Fill(int from) {
        for (int i = from; i < from + 50; i++) {
            await Task.Delay(4);
            squares[i] = i * i;    // expect: thread-safety-violation
        }
    }
}

class Program {
    static async Task Main() {
        var cache = new Cache();
        await Task.WhenAll(cache.Fill(0), cache.Fill(100), cache.Fill(200));
        Console.WriteLine("done");
    }
}
