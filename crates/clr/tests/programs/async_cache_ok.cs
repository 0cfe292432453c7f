// expect: nothing
// Asynchronous methods that fill a cache one after the other: a semaphore is held across await.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Cache {
    readonly Dictionary<int, int> squares = new Dictionary<int, int>(1000);
    readonly SemaphoreSlim gate = new SemaphoreSlim(1);

    public async Task Fill(int from) {
        for (int i = from; i < from + 50; i++) {
            await gate.WaitAsync();
            try {
                await Task.Delay(1);
                squares[i] = i * i;
            } finally {
                gate.Release();
            }
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
