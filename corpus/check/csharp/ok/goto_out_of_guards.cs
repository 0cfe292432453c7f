// A `goto` runs the cleanups of the blocks that it leaves, and of no others.
using System.Threading;

class Program {
    static readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
    static readonly object key = new object();
    static int left = 2, done;

    static void Work() {
        while (true) {
            gate.EnterWriteLock();
            try {
                lock (key) {
                    if (left == 0) goto end;
                again:
                    left--;
                    done++;
                    if (left == 5) goto again;
                }
                if (left > 0) goto more;
            } finally {
                gate.ExitWriteLock();
            }
            return;
        more:
            Thread.Sleep(1);
        }
    end:
        return;
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
