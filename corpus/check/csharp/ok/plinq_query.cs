// The body of a parallel query expression changes nothing, or does so atomically.
using System.Linq;
using System.Threading;

class Program {
    static int calls;
    static int Square(int i) {
        Interlocked.Increment(ref calls);
        return i * i;
    }
    static void Main() {
        var squares = (from i in Enumerable.Range(0, 100).AsParallel() where i > 0 select Square(i)).ToArray();
        int sum = Enumerable.Range(0, 100).AsParallel().Select(i => i * 2).Sum();
        calls = 0;
        System.Console.WriteLine(squares.Length + sum);
    }
}
