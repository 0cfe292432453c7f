// expect: nothing
// A list is handed over through a channel, and back through another.
using System;
using System.Collections.Generic;
using System.Threading.Channels;
using System.Threading.Tasks;

class Program {
    static async Task Fill(ChannelReader<List<int>> from, ChannelWriter<List<int>> to) {
        while (await from.WaitToReadAsync()) {
            List<int> list = await from.ReadAsync();
            list.Add(1);
            await to.WriteAsync(list);
        }
    }

    static async Task Main() {
        var empty = Channel.CreateUnbounded<List<int>>();
        var full = Channel.CreateUnbounded<List<int>>();
        Task filling = Fill(empty.Reader, full.Writer);
        var list = new List<int>();
        for (int i = 0; i < 20; i++) {
            list.Add(0);
            await empty.Writer.WriteAsync(list);
            list = await full.Reader.ReadAsync();
            await Task.Delay(1);
        }
        empty.Writer.Complete();
        await filling;
        Console.WriteLine(list.Count == 40 ? "done" : "lost");
    }
}
