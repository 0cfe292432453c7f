// Services of a host. The host starts them, and stops them while they still work.
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
// Minimal APIs: while an application runs, two clients request every mapped route concurrently.
// A `__Handler` is a delegate that creates its own arguments.
public class __Handler { }
public class __Route {
    public object handler; public __Route next;
}
public class __Routes {
    __Route first;
    public object Add(object handler) {
        __Route route = new __Route();
        route.handler = handler;
        route.next = first;
        first = route;
        return __raddle.Something();
    }
    public void Start() {
        for (int i = 0; i < 2; i++) ThreadPool.QueueUserWorkItem(() => Request());
        __raddle.Sleep();
        __raddle.Sleep();
    }
    // The application ends after all requests.
    public void Run() {
        Task one = Task.Run(() => Request());
        Task other = Task.Run(() => Request());
        __raddle.Until(one);
        __raddle.Until(other);
    }
    void Request() {
        for (__Route route = first; route != null; route = route.next) __Callback.Call(route.handler);
    }
}
public abstract class IEndpointRouteBuilder {
    public __Routes __routes = new __Routes();
    public object MapGet(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object MapPost(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object MapPut(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object MapDelete(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object MapPatch(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object Map(object pattern, __Handler handler) { return __routes.Add(handler); }
    public object MapMethods(object pattern, object methods, __Handler handler) { return __routes.Add(handler); }
    public object MapFallback(__Handler handler) { return __routes.Add(handler); }
    public RouteGroupBuilder MapGroup(object prefix) { return new RouteGroupBuilder(__routes); }
}
public class RouteGroupBuilder : IEndpointRouteBuilder {
    public RouteGroupBuilder(__Routes routes) { __routes = routes; }
}
public class WebApplication : IEndpointRouteBuilder {
    public static WebApplicationBuilder CreateBuilder() { return new WebApplicationBuilder(); }
    public static WebApplicationBuilder CreateBuilder(object args) { return new WebApplicationBuilder(); }
    public static WebApplicationBuilder CreateSlimBuilder(object args) { return new WebApplicationBuilder(); }
    public static WebApplication Create() { return new WebApplication(); }
    public static WebApplication Create(object args) { return new WebApplication(); }
    public void Run() { __routes.Run(); }
    public void Run(object url) { __routes.Run(); }
    public void Start() { __routes.Start(); }
    public Task RunAsync() { return Task.Run(() => __routes.Run()); }
    public Task RunAsync(object url) { return RunAsync(); }
    public Task StartAsync() { __routes.Start(); return Task.CompletedTask; }
}
public class WebApplicationBuilder {
    public object Services => __raddle.Something();
    public object Configuration => __raddle.Something();
    public object Environment => __raddle.Something();
    public object Logging => __raddle.Something();
    public object Host => __raddle.Something();
    public object WebHost => __raddle.Something();
    public WebApplication Build() { return new WebApplication(); }
}
