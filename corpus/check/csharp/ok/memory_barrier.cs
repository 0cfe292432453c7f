// A barrier beside a plain access makes it one that other threads see.
using System.Threading;

class Breaker {
    private object state = new object();
    public object State { get { Interlocked.MemoryBarrier(); return state; } }
    public void Trip(object next) { Interlocked.CompareExchange(ref state, next, State); }
}

class Program {
    static void Main() {
        var breaker = new Breaker();
        var thread = new Thread(() => breaker.Trip(new object()));
        thread.Start();
        object seen = breaker.State;
        thread.Join();
    }
}
