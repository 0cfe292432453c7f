// expect: nothing
// A thread waits for an asynchronous method while it holds a lock that the rest of the method takes: that works as long as the
// task that is awaited is complete.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly List<int> loaded = new List<int>();

    static Task<int> Mock(int key) => Task.FromResult(key);

    static async Task Load(int key) {
        int value = await Mock(key);
        lock (gate)
            loaded.Add(value);
    }

    static void Main() {
        for (int i = 0; i < 20; i++)
            lock (gate)
                Load(i).Wait();
        Console.WriteLine(loaded.Count == 20 ? "done" : "lost");
    }
}
