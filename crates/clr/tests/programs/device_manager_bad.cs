// Figure 10(a) of the paper: asynchronous handlers of messages update one dictionary.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class DeviceManager {
    readonly Dictionary<int, string> globalStatus = new Dictionary<int, string>(1000);

    public async Task ClientStatusUpdate(int client, string status) {
        await Task.Delay(2);
        globalStatus[client] = status;    // expect: thread-safety-violation
    }
}

class Program {
    static void Main() {
        var manager = new DeviceManager();
        for (int round = 0; round < 40; round++) {
            Task one = manager.ClientStatusUpdate(1, "up");
            Task two = manager.ClientStatusUpdate(2, "down");
            Task.WaitAll(one, two);
        }
        Console.WriteLine("done");
    }
}
