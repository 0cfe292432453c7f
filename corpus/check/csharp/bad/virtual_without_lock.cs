// The override that runs does not lock.
using System.Threading;

abstract class Base {
    protected int count;
    protected readonly object gate = new object();
    public abstract void Step();
}
class Plain : Base { public override void Step() { count++; } } // expect: data-race #1
class Guarded : Base { public override void Step() { lock (gate) { count++; } } }
class Program {
    static void Main() {
        Base b = new Plain();
        var t = new Thread(b.Step);
        t.Start();
        b.Step();
        t.Join();
    }
}
