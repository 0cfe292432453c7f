// The C library calls back, and both threads fill one list.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    unsafe delegate int Compare(int* x, int* y);
    [DllImport("libc")]
    static extern unsafe void qsort(int* at, UIntPtr count, UIntPtr size, Compare compare);

    static readonly List<int> one = new List<int>(10000), two = one;

    static unsafe void Sort(List<int> seen) {
        int[] all = { 3, 1, 2 };
        fixed (int* at = all) qsort(at, (UIntPtr)3, (UIntPtr)4, (x, y) => {
            seen.Add(*x);    // expect: thread-safety-violation
            return *x - *y;
        });
    }
    static void First(int i) => Sort(one);
    static void Second(int i) => Sort(two);

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
