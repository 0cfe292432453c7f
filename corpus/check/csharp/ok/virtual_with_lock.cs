// The override that runs does.
using System.Threading;

abstract class Base {
    protected int count;
    protected readonly object gate = new object();
    public abstract void Step();
}
class Plain : Base { public override void Step() { count++; } }
class Guarded : Base { public override void Step() { lock (gate) { count++; } } }
class Program {
    static void Main() {
        Base b = new Guarded();
        var t = new Thread(b.Step);
        t.Start();
        b.Step();
        t.Join();
    }
}
