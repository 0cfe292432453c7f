// What follows a `RunAsync` that nobody awaits comes while requests are served.
using System;
using Microsoft.AspNetCore.Builder;

class Program {
    static int total;
    static readonly object gate = new object();

    static void Main(string[] args) {
        var app = WebApplication.CreateBuilder(args).Build();
        app.MapGet("/count", () => {
            lock (gate) {
                total++; // expect: data-race #1
            }
        });
        var running = app.RunAsync();
        Console.WriteLine(total); // expect: data-race #1
        running.Wait();
    }
}
