// A synchronisation context of the program's own calls what is posted to it at once.
using System.Threading;

class Immediate : SynchronizationContext {
    public override void Post(SendOrPostCallback callback, object state) { callback(state); }
}

class Poster {
    private readonly SynchronizationContext context;
    public Poster(SynchronizationContext context) { this.context = context; }
    public void Run(SendOrPostCallback callback) { context.Post(callback, null); }
}

class Program {
    static void Main() {
        int count = 0;
        new Poster(new Immediate()).Run(state => { count++; });
        count++;
    }
}
