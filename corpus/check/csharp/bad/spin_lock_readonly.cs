// A SpinLock in a readonly field is copied at each use, so it guards nothing.
using System.Threading;

class Program {
    static readonly SpinLock gate = new SpinLock();
    static int count;
    static void Add() {
        bool taken = false;
        gate.Enter(ref taken); // expect: lock-leak
        count++; // expect: data-race #1
        if (taken) gate.Exit(); // expect: unlock-not-held
    }
    static void Main() {
        var thread = new Thread(Add);
        thread.Start();
        Add();
        thread.Join();
    }
}
