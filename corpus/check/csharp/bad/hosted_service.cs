// The service is stopped while its work goes on.
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

public class Poller : IHostedService {
    private bool stopped;
    private int polls;

    public Task StartAsync(CancellationToken token) {
        Task.Run(() => {
            while (!stopped) polls++; // expect: data-race read #1
        });
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken token) {
        stopped = true; // expect: data-race write #1
        return Task.CompletedTask;
    }
}
