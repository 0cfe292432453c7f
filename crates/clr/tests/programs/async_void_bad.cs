// Nobody waits for an async void.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static int left = 40;

    static async void Fire(int i) {
        await Task.Delay(1);
        list.Add(i);    // expect: thread-safety-violation
        Interlocked.Decrement(ref left);
    }

    static void Main() {
        for (int i = 0; i < 40; i++) {
            Fire(i);
            Thread.Sleep(2);
            list.Remove(i);    // expect: thread-safety-violation
        }
        while (Volatile.Read(ref left) > 0) Thread.Sleep(1);
        Console.WriteLine("done");
    }
}
