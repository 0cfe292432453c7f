// A list is used by whoever has put it into a channel, and by whoever has got it out.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

class Program {
    static async Task Use(ChannelReader<List<int>> from) {
        while (await from.WaitToReadAsync()) {
            List<int> list = await from.ReadAsync();
            await Task.Delay(1);
            list.Add(1);    // expect: thread-safety-violation
        }
    }

    static void Main() {
        var channel = Channel.CreateUnbounded<List<int>>();
        Task using_ = Use(channel.Reader);
        var list = new List<int>(1000);
        for (int i = 0; i < 40; i++) {
            channel.Writer.TryWrite(list);
            Thread.Sleep(2);
            list.Add(0);    // expect: thread-safety-violation
        }
        channel.Writer.Complete();
        using_.Wait();
        Console.WriteLine("done");
    }
}
