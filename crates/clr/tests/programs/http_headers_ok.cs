// expect: nothing
// Two requests set default headers of one client, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Net.Http;

class Program {
    static readonly object gate = new object();
    static readonly HttpClient client = new HttpClient();

    static void First(int i) {
        lock (gate) {
            client.DefaultRequestHeaders.TryAddWithoutValidation("A" + i, "1");
        }
    }

    static void Second(int i) {
        lock (gate) {
            client.DefaultRequestHeaders.Remove("A" + i);
        }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
