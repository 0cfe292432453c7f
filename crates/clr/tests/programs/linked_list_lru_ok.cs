// expect: nothing
// A cache keeps what was used last in front of a linked list, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static readonly LinkedList<int> recent = new LinkedList<int>();

    static void First(int i) {
        lock (gate) {
            recent.AddFirst(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            if (recent.Contains(i - 5))
                return;
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
