// Its accessors lock.
using System.Threading.Tasks;

class Counter {
    readonly object gate = new object();
    int value;
    public int Value { get { lock (gate) return value; } set { lock (gate) this.value = value; } }
}
class Program {
    static void Main() {
        var c = new Counter();
        var t = Task.Run(() => { c.Value = 1; });
        c.Value = 2;
        t.Wait();
    }
}
