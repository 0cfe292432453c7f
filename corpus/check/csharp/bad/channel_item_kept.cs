// The writer changes an item after it has handed it over.
using System.Threading.Channels;
using System.Threading.Tasks;

class Item { public int Value; }

class Program {
    static async Task Main() {
        var channel = Channel.CreateUnbounded<Item>();
        var reader = Task.Run(async () => {
            Item item = await channel.Reader.ReadAsync();
            return item.Value; // expect: data-race read #1
        });
        var sent = new Item { Value = 1 };
        await channel.Writer.WriteAsync(sent);
        sent.Value = 2; // expect: data-race write #1
        await reader;
    }
}
