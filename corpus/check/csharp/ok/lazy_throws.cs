// What makes a lazy value throws, and the next thread that asks makes it.
using System;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int tries;
    static readonly Lazy<int[]> cells = new Lazy<int[]>(Make, LazyThreadSafetyMode.PublicationOnly);
    static int[] Make() {
        if (Interlocked.Increment(ref tries) == 1) throw new InvalidOperationException();
        return new int[3];
    }
    static int First() {
        try { return cells.Value[0]; } catch (InvalidOperationException) { return -1; }
    }
    static void Main() {
        var t = Task.Run(() => First());
        First();
        t.Wait();
        First();
    }
}
