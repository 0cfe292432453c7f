// An asynchronous lambda does not wait for what it has begun, so who waits for the lambda does not either.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static async Task Fill(List<int> list) {
        for (int i = 0; i < 4; i++) {
            await Task.Delay(2);
            list.Add(i);    // expect: thread-safety-violation
        }
    }

    static void Main() {
        for (int round = 0; round < 15; round++) {
            var list = new List<int>(1000);
            Task filled = null;
            Task.Run(async () => {
                filled = Fill(list);
                await Task.Delay(1);
            }).Wait();
            for (int i = 0; i < 4; i++) {
                Thread.Sleep(2);
                list.Add(-i);    // expect: thread-safety-violation
            }
            filled.Wait();
        }
        Console.WriteLine("done");
    }
}
