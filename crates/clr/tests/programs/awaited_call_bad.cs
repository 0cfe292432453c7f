// An asynchronous method that awaits another one too late.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task<int> Add(List<int> list, int item) {
        list.Add(item);
        await Task.Delay(1);
        list.Add(-item);    // expect: thread-safety-violation
        return list.Count;    // expect: thread-safety-violation
    }

    static async Task Main() {
        var list = new List<int>(1000);
        for (int i = 0; i < 40; i++) {
            Task<int> adds = Add(list, i);
            await Task.Delay(1);
            list.Sort();    // expect: thread-safety-violation
            await adds;
        }
        Console.WriteLine("done");
    }
}
