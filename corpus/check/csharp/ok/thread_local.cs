// One for each thread.
using System.Threading;

class Program {
    class Box { public int Value; }
    static readonly ThreadLocal<Box> box = new ThreadLocal<Box>(() => new Box());
    static void Use() { box.Value.Value++; }
    static void Main() {
        var t = new Thread(Use);
        t.Start();
        Use();
        t.Join();
    }
}
