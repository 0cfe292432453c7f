// Two threads come to one call by way of methods that have points of their own.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    static readonly List<int> shared = new List<int>(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Put(int i) {
        shared.Add(i); // frame
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pass(int i) {
        var own = new List<int>();
        own.Add(1);
        own.Add(2); own.Insert(0, 3); own.Sort();
        own.Add(3);
        Put(i); // frame
        own.Add(4);
        own.Add(5);
        Thread.Sleep(2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work() {
        for (int i = 0; i < 40; i++)
            Pass(i); // frame
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
