// A test starts work in its set-up, which waits for it.
using System.Threading.Tasks;
using Xunit;

public class CounterTests : IAsyncLifetime {
    private int count;

    public async Task InitializeAsync() {
        await Task.Run(() => { count++; });
    }

    [Fact]
    public void Counts() {
        count++;
    }

    public Task DisposeAsync() { return Task.CompletedTask; }
}
