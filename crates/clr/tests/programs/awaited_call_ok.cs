// expect: nothing
// An asynchronous method that awaits others, each of which uses the same list.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static async Task<int> Add(List<int> list, int item) {
        list.Add(item);
        await Task.Delay(1);
        list.Add(-item);
        return list.Count;
    }

    static async Task Main() {
        var list = new List<int>(1000);
        int count = 0;
        for (int i = 0; i < 40; i++) {
            count = await Add(list, i);
            list.Sort();
        }
        Console.WriteLine(count == 80 ? "done" : "lost");
    }
}
