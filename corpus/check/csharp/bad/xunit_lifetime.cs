// A test starts work in its set-up and does not wait for it.
using System.Threading.Tasks;
using Xunit;

public class CounterTests : IAsyncLifetime {
    private int count;
    private Task work;

    public Task InitializeAsync() {
        work = Task.Run(() => { count++; }); // expect: data-race #1
        return Task.CompletedTask;
    }

    [Fact]
    public void Counts() {
        count++; // expect: data-race #1
    }

    public Task DisposeAsync() { return work; }
}
