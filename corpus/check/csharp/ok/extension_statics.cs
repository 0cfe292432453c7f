// The class of an extension method is initialised before its code runs, once for all threads.
using System.Threading.Tasks;

static class Texts {
    private static readonly string[] parts = { "a", "b" };
    public static int Weight(this string s) { return parts.Length + s.Length; }
}

class Program {
    static void Main() {
        var t = Task.Run(() => "x".Weight());
        var u = Task.Run(() => "y".Weight());
        Task.WaitAll(t, u);
    }
}
