// A handler on another thread writes what the subscriber reads.
using System;
using System.Threading.Tasks;

class Source {
    public event Action<int> Changed;
    public Task Raise() { return Task.Run(() => Changed?.Invoke(3)); }
}
class Program {
    static int last;
    static void Main() {
        var source = new Source();
        source.Changed += v => last = v; // expect: data-race #1
        var raised = source.Raise();
        
        last++; // expect: data-race #1
        raised.Wait();
    }
}
