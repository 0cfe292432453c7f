// What goes on in a thread of its own awaiter shares the list with the maker.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

struct OtherThread : INotifyCompletion {
    public OtherThread GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action next) => new Thread(() => next()).Start();
}

class Program {
    static readonly List<int> list = new List<int>(1000);
    static async Task Work() {
        for (int i = 0; i < 20; i++) {
            list.Add(i);    // expect: thread-safety-violation
            await new OtherThread();
            list.Contains(i);    // expect: thread-safety-violation
            await Task.Delay(1);
        }
    }
    static async Task Main() {
        await Task.WhenAll(Work(), Work());
        Console.WriteLine("done");
    }
}
