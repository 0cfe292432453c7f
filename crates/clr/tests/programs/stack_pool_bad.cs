// Buffers are taken from and put back on a shared stack.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Stack<byte[]> pool = new Stack<byte[]>(1000);

    static void First(int i) {
        pool.Push(new byte[16]);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        pool.TryPop(out _);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
