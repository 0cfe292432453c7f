// A continuation runs after what it continues.
using System.Threading.Tasks;

class Program {
    static int field;
    static void Main() {
        var first = Task.Run(() => { field = 1; });
        var second = first.ContinueWith(t => { field = 2; });
        second.Wait();
        first.Wait();
    }
}
