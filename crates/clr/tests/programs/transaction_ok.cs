// expect: nothing
// A scope of a transaction belongs to its thread.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static Task<int> Mock(int i) => Task.FromResult(i);
    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 20; i++) {
            using (var scope = new System.Transactions.TransactionScope()) {
                list.Add(await Mock(i));
                scope.Complete();
            }
        }
        Console.WriteLine("done");
    }
}
