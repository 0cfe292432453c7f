// Result waits.
using System.Threading.Tasks;

class Program {
    static int field;
    static int Compute() { field = 3; return 4; }
    static void Main() {
        var task = Task.Run(() => Compute());
        int x = task.Result;
        x += field;
        task.Wait();
    }
}
