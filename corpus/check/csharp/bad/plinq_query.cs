// The body of a parallel query expression changes what it shares.
using System.Linq;

class Program {
    static int calls;
    static int Square(int i) {
        calls++; // expect: data-race #1
        return i * i;
    }
    static void Main() {
        var squares = (from i in Enumerable.Range(0, 100).AsParallel() where i > 0 select Square(i)).ToArray();
        System.Console.WriteLine(squares.Length);
    }
}
