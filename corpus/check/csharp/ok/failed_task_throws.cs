// Who awaits a task that failed does not go on, whatever it failed with.
using System;
using System.Threading.Tasks;

class Connection {
    public int Headers;
    readonly TaskCompletionSource<object> started = new TaskCompletionSource<object>();
    public Task Start(Exception[] errors) {
        Task.Run(() => { int seen = Headers; });
        started.TrySetException(errors);
        return started.Task;
    }
}

class Program {
    static async Task Main(string[] args) {
        var connection = new Connection();
        try {
            await connection.Start(Array.ConvertAll(new[] { 1 }, a => new Exception()));
            connection.Headers = 1;
        } catch (Exception) { }
    }
}
