// The loop over a periodic timer runs beside its starter.
using System;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int ticks;
    static async Task Loop(PeriodicTimer timer) {
        while (await timer.WaitForNextTickAsync()) {
            ticks++; // expect: data-race #1
        }
    }
    static async Task Main() {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(1));
        Task loop = Loop(timer);
        ticks++; // expect: data-race #1
        await Task.Delay(10);
        timer.Dispose();
        await loop;
    }
}
