// expect: nothing
// Handlers subscribe while others are told, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Bus {
    readonly object gate = new object();
    readonly List<Action<int>> handlers = new List<Action<int>>(1000);

    public void Subscribe(Action<int> handler) {
        lock (gate)
            handlers.Add(handler);
    }

    public void Publish(int message) {
        Action<int>[] all;
        lock (gate)
            all = handlers.ToArray();
        foreach (var handler in all)
            handler(message);
    }
}

class Program {
    static void Main() {
        var bus = new Bus();
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { bus.Subscribe(_ => { }); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { bus.Publish(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
