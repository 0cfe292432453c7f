// Two requests set default headers of one client.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Net.Http;

class Program {
    static readonly HttpClient client = new HttpClient();

    static void First(int i) {
        try {
            client.DefaultRequestHeaders.TryAddWithoutValidation("A" + i, "1");    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            client.DefaultRequestHeaders.Remove("A" + i);    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
