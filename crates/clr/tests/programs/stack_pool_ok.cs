// expect: nothing
// Each thread has a stack of its own.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly ThreadLocal<Stack<byte[]>> pool = new ThreadLocal<Stack<byte[]>>(() => new Stack<byte[]>());

    static void First(int i) {
        pool.Value.Push(new byte[16]);
    }

    static void Second(int i) {
        pool.Value.TryPop(out _);
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
