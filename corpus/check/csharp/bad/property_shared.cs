// An automatic property is written by two threads.
using System.Threading.Tasks;

class Counter {
    readonly object gate = new object();
    int value;
    public int Value { get; set; }
}
class Program {
    static void Main() {
        var c = new Counter();
        var t = Task.Run(() => { c.Value = 1; }); // expect: data-race #1
        c.Value = 2; // expect: data-race #1
        t.Wait();
    }
}
