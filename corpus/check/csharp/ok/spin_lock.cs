// A SpinLock that is taken by both sides.
using System.Threading;

class Program {
    static SpinLock gate = new SpinLock(false);
    static int count;
    static void Add() {
        bool taken = false;
        try {
            gate.Enter(ref taken);
            count++;
        } finally { if (taken) gate.Exit(); }
    }
    static void Main() {
        var thread = new Thread(Add);
        thread.Start();
        Add();
        thread.Join();
    }
}
