// Who has caught what a task failed with goes on beside the rest.
using System;
using System.Threading.Tasks;

class Connection {
    public int Headers;
    readonly TaskCompletionSource<object> started = new TaskCompletionSource<object>();
    public Task Start(Exception[] errors) {
        Task.Run(() => { int seen = Headers; }); // expect: data-race read #1
        started.TrySetException(errors);
        return started.Task;
    }
}

class Program {
    static async Task Main(string[] args) {
        var connection = new Connection();
        try {
            await connection.Start(Array.ConvertAll(new[] { 1 }, a => new Exception()));
        } catch (Exception) { }
        connection.Headers = 1; // expect: data-race write #1
    }
}
