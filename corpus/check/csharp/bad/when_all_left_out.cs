// One of two tasks is not waited for.
using System.Threading.Tasks;

class Program {
    static int a, b;
    static async Task Main() {
        var one = Task.Run(() => { a = 1; });
        var two = Task.Run(() => { b = 1; }); // expect: data-race #1
        await Task.WhenAll(one);
        a++;
        b++; // expect: data-race #1
    }
}
