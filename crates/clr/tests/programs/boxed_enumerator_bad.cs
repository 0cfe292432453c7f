// An enumerator that was made before goes on while its list grows.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000) { 1, 2, 3 };
    static readonly IEnumerator<int> enumerator = ((IEnumerable<int>)list).GetEnumerator();

    static void First(int i) {
        list.Add(i);    // expect: thread-safety-violation
    }

    static void Second(int i) {
        try { enumerator.MoveNext(); } catch (InvalidOperationException) { }    // expect: thread-safety-violation
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
