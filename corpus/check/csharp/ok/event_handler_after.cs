// The subscriber waits first.
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
        source.Changed += v => last = v;
        var raised = source.Raise();
        raised.Wait();
        last++;
        raised.Wait();
    }
}
