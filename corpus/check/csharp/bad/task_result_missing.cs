// A field that a task writes is read before anything waits for it.
using System.Threading.Tasks;

class Program {
    static int field;
    static int Compute() { field = 3; return 4; } // expect: data-race #1
    static void Main() {
        var task = Task.Run(() => Compute());
        int x = 0;
        x += field; // expect: data-race #1
        task.Wait();
    }
}
