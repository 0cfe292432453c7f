// Services of a host: it starts them, and stops them while their work goes on.
public interface IHostedService { }
public abstract class BackgroundService : IHostedService, IDisposable {
    Task __work; CancellationTokenSource __stopping = new CancellationTokenSource();
    protected abstract Task ExecuteAsync(CancellationToken token);
    public Task ExecuteTask => __work;
    public virtual Task StartAsync(CancellationToken token) {
        __work = ExecuteAsync(__stopping.Token);
        return Task.CompletedTask;
    }
    public virtual async Task StopAsync(CancellationToken token) {
        if (__work == null) return;
        __stopping.Cancel();
        __raddle.Until(__work);
    }
    public virtual void Dispose() { __stopping.Cancel(); }
}
