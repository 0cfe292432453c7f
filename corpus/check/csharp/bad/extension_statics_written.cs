// An extension method counts its calls.
using System.Threading.Tasks;

static class Texts {
    private static int calls;
    public static int Weight(this string s) { calls++; return s.Length; } // expect: data-race #1
}

class Program {
    static void Main() {
        var t = Task.Run(() => "x".Weight());
        var u = Task.Run(() => "y".Weight());
        Task.WaitAll(t, u);
    }
}
