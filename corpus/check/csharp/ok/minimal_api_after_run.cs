// What follows `Run` comes after all requests.
using System;
using Microsoft.AspNetCore.Builder;

class Program {
    static int total;
    static readonly object gate = new object();

    static void Main(string[] args) {
        var app = WebApplication.CreateBuilder(args).Build();
        app.MapGet("/count", () => { lock (gate) total++; });
        app.Run();
        Console.WriteLine(total);
    }
}
