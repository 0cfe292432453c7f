// The context that every program has posts to the thread pool.
using System.Threading;

class Poster {
    private readonly SynchronizationContext context;
    public Poster(SynchronizationContext context) { this.context = context; }
    public void Run(SendOrPostCallback callback) { context.Post(callback, null); }
}

class Program {
    static void Main() {
        int count = 0;
        new Poster(new SynchronizationContext()).Run(state => { count++; }); // expect: data-race #1
        count++; // expect: data-race #1
        Thread.Sleep(50);
    }
}
