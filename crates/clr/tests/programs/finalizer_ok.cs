// expect: nothing
// A finalizer uses the list of all, under a lock.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    static readonly List<int> list = new List<int>(10000);

    class Handle {
        public int N;
        ~Handle() {
            lock (list) list.Add(N);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int i) {
        new Handle { N = i };
    }

    static void Main() {
        for (int i = 0; i < 40; i++) {
            Make(i);
            GC.Collect();
            Thread.Sleep(1);
            lock (list) list.Remove(i);
        }
        GC.WaitForPendingFinalizers();
        Console.WriteLine("done");
    }
}
