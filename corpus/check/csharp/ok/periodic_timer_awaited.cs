// The ticks of a periodic timer follow each other.
using System;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int ticks;
    static async Task Main() {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(1));
        while (await timer.WaitForNextTickAsync() && ticks < 3) {
            ticks++;
        }
    }
}
