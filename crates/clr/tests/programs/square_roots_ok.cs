// expect: nothing
// Figure 3 of the paper, with a semaphore around the cache.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly SemaphoreSlim gate = new SemaphoreSlim(1);

    static async Task<double> GetSqrt(double x, Dictionary<double, double> dict) {
        await gate.WaitAsync();
        try {
        if (dict.ContainsKey(x))
            return dict[x];
        double s = await Task.Run(() => Math.Sqrt(x));
        dict[x] = s;
        return s;
        } finally { gate.Release(); }
    }

    static void Main() {
        var dict = new Dictionary<double, double>(1000);
        double sum = 0;
        for (int i = 0; i < 60; i++) {
            Task<double> a = GetSqrt(2 * i, dict);
            Task<double> b = GetSqrt(2 * i + 1, dict);
            sum += a.Result + b.Result;
            Thread.Sleep(1);
        }
        Console.WriteLine("done");
    }
}
