// One object for all threads.
using System.Threading;

class Program {
    class Box { public int Value; }
    static readonly Box box = new Box();
    static void Use() { box.Value++; } // expect: data-race #1
    static void Main() {
        var t = new Thread(Use);
        t.Start();
        Use();
        t.Join();
    }
}
