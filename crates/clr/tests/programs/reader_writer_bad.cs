// A table is filled where it is read, under the read lock: readers do not exclude each other.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var gate = new ReaderWriterLockSlim();
        var table = new Dictionary<int, int>(1000);
        void Get(int key) {
            gate.EnterReadLock();
            try {
                table[key] = key; // expect: thread-safety-violation
            } finally { gate.ExitReadLock(); }
        }
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { Get(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Get(-i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
