// expect: nothing
// Two threads write to a synchronized Hashtable.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Collections;

class Program {
    static readonly Hashtable table = Hashtable.Synchronized(new Hashtable(1000));

    static void First(int i) {
        table[i] = i;
    }

    static void Second(int i) {
        table[i + 1000] = i;
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
