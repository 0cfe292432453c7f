// The barrier stands beside another access.
using System.Threading;

class Breaker {
    private object state = new object();
    private int trips;
    public object State {
        get {
            Interlocked.MemoryBarrier();
            int now = trips;
            return state; // expect: data-race read #1
        }
    }
    public void Trip(object next) { Interlocked.Exchange(ref state, next); } // expect: data-race #1
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
