// A barrier lies between the phases.
using System.Threading;

class Program {
    static readonly Barrier barrier = new Barrier(2);
    static readonly int[] cells = new int[2];
    static void Work(int me) {
        cells[me] = 1;
        barrier.SignalAndWait();
        int other = cells[1 - me];
    }
    static void Main() {
        var t = new Thread(() => Work(0));
        t.Start();
        Work(1);
        t.Join();
    }
}
