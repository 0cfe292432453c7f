// expect: nothing
// The flow of the context is suppressed and restored in one thread.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static Task<int> Mock(int i) => Task.FromResult(i);
    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 20; i++) {
            using (ExecutionContext.SuppressFlow()) {
                list.Add(await Mock(i));
            }
        }
        Console.WriteLine("done");
    }
}
