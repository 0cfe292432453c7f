// The parameter of a primary constructor is guarded by another.
using System.Threading.Tasks;

class Counter(int start, object gate) {
    public void Add() { lock (gate) start++; }
    public int Twice => start * 2;
}

class Program {
    static void Main() {
        var counter = new Counter(1, new object());
        var task = Task.Run(() => counter.Add());
        counter.Add();
        task.Wait();
        System.Console.WriteLine(counter.Twice);
    }
}
