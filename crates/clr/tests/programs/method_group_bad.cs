// A method of a list is handed on as a delegate, and called by two threads.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections.Concurrent;
using System.Linq;

class Program {
    static void Main() {
        var found = new List<int>(10000);
        for (int round = 0; round < 30; round++) {
            Task one = Task.Run(() => { Thread.Sleep(1); Each(Enumerable.Range(0, 3), found.Add); });    // expect: thread-safety-violation
            Task two = Task.Run(() => { Thread.Sleep(1); Each(Enumerable.Range(0, 3), found.Add); });    // expect: thread-safety-violation
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
