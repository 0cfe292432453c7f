// Two threads write one structure in place.
using System.Threading;

struct Point { public int X, Y; }
class Program {
    static Point point;
    static void Move() {
        point.X++; // expect: data-race #1
    }
    static void Main() {
        var t = new Thread(Move);
        t.Start();
        Move();
        t.Join();
    }
}
