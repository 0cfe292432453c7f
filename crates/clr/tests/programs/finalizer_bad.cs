// A finalizer uses the list of all.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(10000);

    class Handle {
        public int N;
        ~Handle() {
            list.Add(N);    // expect: thread-safety-violation
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int i) {
        new Handle { N = i };
    }

    static void Main() {
        for (int i = 0; i < 60; i++) {
            Make(i);
            GC.Collect();
            Thread.Sleep(1);
            list.Remove(i);    // expect: thread-safety-violation
            Thread.Sleep(1);
        }
        GC.WaitForPendingFinalizers();
        Console.WriteLine("done");
    }
}
