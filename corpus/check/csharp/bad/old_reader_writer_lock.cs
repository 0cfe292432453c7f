// Two threads write, both as readers.
using System.Threading;

class Program {
    static readonly ReaderWriterLock gate = new ReaderWriterLock();
    static int value;
    static void Add() {
        gate.AcquireReaderLock(Timeout.Infinite);
        try { value++; } // expect: data-race #1
        finally { gate.ReleaseReaderLock(); }
    }
    static void Main() {
        var thread = new Thread(Add);
        thread.Start();
        Add();
        thread.Join();
    }
}
