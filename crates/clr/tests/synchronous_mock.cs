// A cache in front of a store that is mocked: wrong only where the store is really asynchronous.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

interface IStore {
    Task<int> Get(int key);
}

class Mock : IStore {
    public Task<int> Get(int key) => Task.FromResult(key * 2);
}

class Cache {
    readonly Dictionary<int, int> known = new Dictionary<int, int>(1000);
    readonly IStore store = new Mock();

    public async Task<int> Get(int key) {
        int value = await store.Get(key);
        known[key] = value;
        Thread.Sleep(2);
        return value;
    }
}

class Program {
    static async Task Main() {
        var cache = new Cache();
        long sum = 0;
        for (int round = 0; round < 20; round++)
            sum += (await Task.WhenAll(Enumerable.Range(round * 4, 4).Select(cache.Get))).Sum();
        Console.WriteLine(sum);
    }
}
