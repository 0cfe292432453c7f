// expect: nothing
// Asynchronous lambdas go on with what their creators have begun, and the creators wait for their ends.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async Task<T> Later<T>(T value) {
        T result = await Task.Run(async () => { await Task.Delay(1); return value; });
        return result;
    }

    static async Task Main() {
        var list = new List<int>();
        for (int round = 0; round < 20; round++) {
            list.Add(round);
            await Task.Run(async () => {
                list.Add(round);
                await Task.Delay(1);
                list.Add(round);
            });
            list.Add(round);
            Task<int> sum = Task.Run(async () => { await Task.Delay(1); list.Add(round); return list.Count; }, CancellationToken.None);
            list.Add(await Later(sum.Result));
        }
        Console.WriteLine(list.Count == 120 ? "done" : "lost");
    }
}
