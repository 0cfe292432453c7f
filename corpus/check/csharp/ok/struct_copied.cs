// Each writes a copy.
using System.Threading;

struct Point { public int X, Y; }
class Program {
    static Point point;
    static void Move() {
        var mine = point; mine.X++;
    }
    static void Main() {
        var t = new Thread(Move);
        t.Start();
        Move();
        t.Join();
    }
}
