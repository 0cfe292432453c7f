// expect: nothing
// A method of a bag that may be shared is handed on as a delegate.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections.Concurrent;
using System.Linq;

class Program {
    static void Main() {
        var found = new ConcurrentBag<int>();
        var alone = new List<int>();
        new List<int> { 1, 2 }.ForEach(alone.Add);
        for (int round = 0; round < 30; round++) {
            Task one = Task.Run(() => { Thread.Sleep(1); Each(Enumerable.Range(0, 3), found.Add); });
            Task two = Task.Run(() => { Thread.Sleep(1); Each(Enumerable.Range(0, 3), found.Add); });
            Task.WaitAll(one, two);
        }
        Console.WriteLine("done");
    }

    static void Each(IEnumerable<int> items, Action<int> act) {
        foreach (int item in items) {
            act(item);
            Thread.Sleep(1);
        }
    }
}
