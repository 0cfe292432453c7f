// A query runs its steps on the thread that asks.
using System.Linq;
using System.Threading.Tasks;

class Program {
    static int calls;
    static int Square(int i) { calls++; return i * i; }
    static void Main() {
        var numbers = new[] { 1, 2, 3 };
        var squares = (from i in numbers orderby i let j = Square(i) where j > 1 select j).ToList();
        Task.Run(() => { calls = 0; }).Wait();
        System.Console.WriteLine(squares.Count + calls);
    }
}
