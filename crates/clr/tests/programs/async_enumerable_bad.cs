// What makes the next item works ahead.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static async Task Ahead() {
        for (int i = 0; i < 40; i++) {
            list.Add(i);    // expect: thread-safety-violation
            await Task.Delay(2);
        }
    }

    static async IAsyncEnumerable<int> Make() {
        Task ahead = Task.Run(Ahead);
        for (int i = 0; i < 40; i++) {
            await Task.Delay(2);
            yield return i;
        }
        await ahead;
    }

    static async Task Main() {
        await foreach (int i in Make()) list.Contains(i);    // expect: thread-safety-violation
        Console.WriteLine("done");
    }
}
