// Table 3, Timer Race: ticks of a periodic timer and the main thread write one field.
using System.Threading;

class Program {
    static int ticks;
    static void Main() {
        var timer = new Timer(_ => ticks++, null, 0, 10); // expect: data-race #1
        while (ticks < 100) { // expect: data-race #1
            Thread.Sleep(10);
        }
        timer.Dispose();
    }
}
