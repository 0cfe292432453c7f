// Figure 3 of the paper: a cache of square roots, filled by asynchronous methods.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {

    static async Task<double> GetSqrt(double x, Dictionary<double, double> dict) {
        if (dict.ContainsKey(x))    // expect: thread-safety-violation
            return dict[x];    // expect: thread-safety-violation
        double s = await Task.Run(() => Math.Sqrt(x));
        dict[x] = s;    // expect: thread-safety-violation
        return s;
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
