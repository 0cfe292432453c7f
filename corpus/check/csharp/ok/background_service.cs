// The base class waits for the work before the service counts as stopped.
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

public class Poller : BackgroundService {
    private int polls;

    protected override async Task ExecuteAsync(CancellationToken token) {
        while (!token.IsCancellationRequested) {
            polls++;
            await Task.Delay(10);
        }
    }

    public override async Task StopAsync(CancellationToken token) {
        await base.StopAsync(token);
        polls = 0;
    }
}
