// One of the asynchronous methods that use a dictionary is not among those that are waited for.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task Fill(Dictionary<int, int> squares, int from) {
        await Task.Delay(1);
        squares[from] = from * from;    // expect: thread-safety-violation
    }

    static async Task Main() {
        for (int i = 1; i < 40; i++) {
            Dictionary<int, int> one = new Dictionary<int, int>(100), two = new Dictionary<int, int>();
            Task forgotten = Fill(one, -i);
            await Task.WhenAll(Task.Delay(1), Fill(two, i));
            one[0] = two[i];    // expect: thread-safety-violation
            await forgotten;
        }
        Console.WriteLine("done");
    }
}
