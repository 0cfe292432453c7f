// expect: nothing
// Two methods wait for one task and then use one list, under one lock. What follows the `await` in
// the first one runs inside of the end of the task, which the second one has waited for.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static async Task Ready(Task signal) { await signal; }

    static async Task First(Task ready, int i) {
        await ready;
        lock (list) list.Add(i);
    }

    static async Task Second(Task ready, int i) {
        await ready;
        lock (list) list.Add(-i);
    }

    static void Main() {
        for (int round = 0; round < 40; round++) {
            int i = round;
            var signal = new TaskCompletionSource<int>();
            Task ready = Ready(signal.Task);
            Task first = First(ready, i);
            Task second = Task.Run(() => Second(ready, i));
            signal.SetResult(0);
            Task.WaitAll(first, second);
        }
        Console.WriteLine(list.Count == 80 ? "done" : "lost");
    }
}
