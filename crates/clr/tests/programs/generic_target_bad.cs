// Generic code adds to whatever collection it is given.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);

    static void Put<C>(C to, int item) where C : ICollection<int> {
        to.Add(item);    // expect: thread-safety-violation
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { Put(list, i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Put((ICollection<int>)list, i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
