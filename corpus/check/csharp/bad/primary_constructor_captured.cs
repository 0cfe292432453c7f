// A parameter of a primary constructor that methods use is a field.
using System.Threading.Tasks;

class Counter(int start) {
    public void Add() { start++; } // expect: data-race #1
}

class Program {
    static void Main() {
        var counter = new Counter(1);
        var task = Task.Run(() => counter.Add());
        counter.Add();
        task.Wait();
    }
}
