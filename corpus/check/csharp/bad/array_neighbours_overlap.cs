// Two threads write one element.
using System.Threading.Tasks;

class Program {
    static void Main() {
        var cells = new int[4];
        var t = Task.Run(() => { for (int i = 0; i < 3; i++) cells[i] = 1; }); // expect: data-race #1
        for (int i = 2; i < 4; i++) cells[i] = 2; // expect: data-race #1
        t.Wait();
    }
}
