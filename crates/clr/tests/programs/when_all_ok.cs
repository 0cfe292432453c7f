// expect: nothing
// Asynchronous methods with dictionaries of their own, which are read when all have ended.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task Fill(Dictionary<int, int> squares, int from) {
        await Task.Delay(1);
        squares[from] = from * from;
        await Task.Yield();
        squares[-from] = from * from;
    }

    static async Task Main() {
        int sum = 0;
        for (int i = 1; i < 40; i++) {
            Dictionary<int, int> one = new Dictionary<int, int>(), two = new Dictionary<int, int>();
            await Task.WhenAll(Fill(one, i), Fill(two, i));
            sum += one[i] - two[-i];
        }
        Console.WriteLine(sum == 0 ? "done" : "lost");
    }
}
