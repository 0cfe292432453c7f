// What the work uses is changed before the work has ended.
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

public class Poller : BackgroundService {
    private int polls;

    protected override async Task ExecuteAsync(CancellationToken token) {
        while (!token.IsCancellationRequested) {
            await Task.Delay(10);
            polls++; // expect: data-race #1
        }
    }

    public override async Task StopAsync(CancellationToken token) {
        polls = 0; // expect: data-race #1
        await base.StopAsync(token);
    }
}
