// Two asynchronous methods at once, each of which runs its own parts one after the other.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task Fill(List<int> list) {
        for (int i = 0; i < 40; i++) {
            await Task.Delay(2);
            list.Add(i);    // expect: thread-safety-violation
            await Task.Yield();
            list.Sort();    // expect: thread-safety-violation
        }
    }

    static async Task Main() {
        var list = new List<int>(1000);
        Task one = Fill(list), two = Fill(list);
        await one;
        await two;
        Console.WriteLine("done");
    }
}
