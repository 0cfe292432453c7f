// An item belongs to the reader once it was written to the channel.
using System.Threading.Channels;
using System.Threading.Tasks;

class Item { public int Value; }

class Program {
    static async Task Main() {
        var channel = Channel.CreateBounded<Item>(1);
        var reader = Task.Run(async () => {
            int sum = 0;
            await foreach (Item item in channel.Reader.ReadAllAsync()) sum += item.Value;
            return sum;
        });
        for (int i = 0; i < 3; i++) {
            var sent = new Item { Value = i };
            sent.Value++;
            await channel.Writer.WriteAsync(sent);
        }
        channel.Writer.Complete();
        await reader;
    }
}
