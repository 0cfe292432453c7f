// expect: nothing
// A scope belongs to its thread until it is disposed of, also when it is complete.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using System.Transactions;

class Program {
    static Task Log(int i) => Task.CompletedTask;
    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 20; i++) {
            using (var scope = new TransactionScope()) {
                using (var inner = new TransactionScope()) {
                    list.Add(i);
                    inner.Complete();
                    await Log(i);
                }
                await Log(i);
                scope.Complete();
                await Log(i);
            }
        }
        Console.WriteLine("done");
    }
}
