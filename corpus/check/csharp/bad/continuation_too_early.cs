// What a task writes is read beside it.
using System.Threading.Tasks;

class Program {
    static int field;
    static void Main() {
        var first = Task.Run(() => { field = 1; }); // expect: data-race #1
        var second = Task.Run(() => { field = 2; }); // expect: data-race #1
        second.Wait();
        first.Wait();
    }
}
