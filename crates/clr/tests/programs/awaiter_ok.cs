// expect: nothing
// An awaiter of ours goes on in a new thread.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class Program {
    class Elsewhere : INotifyCompletion {
        public Elsewhere GetAwaiter() => this;
        public bool IsCompleted => false;
        public void GetResult() { }
        public void OnCompleted(Action a) => new Thread(() => a()).Start();
    }

    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 30; i++) {
            list.Add(i);
            await new Elsewhere();
            list.Remove(i);
            Thread.Sleep(1);
        }
        Console.WriteLine(list.Count == 0 ? "done" : "lost");
    }
}
