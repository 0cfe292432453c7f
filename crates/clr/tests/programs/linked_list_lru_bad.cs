// A cache keeps what was used last in front of a linked list.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly LinkedList<int> recent = new LinkedList<int>();

    static void First(int i) {
        try {
            recent.AddFirst(i);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            if (recent.Contains(i - 5))    // expect: thread-safety-violation
                return;
        } catch (Exception) { }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
