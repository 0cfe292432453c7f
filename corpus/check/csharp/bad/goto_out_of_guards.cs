// What a `goto` leaves a lock for is not guarded by it.
using System.Threading;

class Program {
    static readonly object key = new object();
    static int count, other;

    static void Work() {
        lock (key) {
            count++;
            if (count > 0) goto after;
            count--;
        }
    after:
        other++; // expect: data-race #1
    }

    static void Main() {
        var first = new Thread(Work);
        var second = new Thread(Work);
        first.Start();
        second.Start();
        first.Join();
        second.Join();
    }
}
