// Handlers of a minimal API that guard what they share; what is made for each request is not shared.
using System.Collections.Concurrent;
using System.Collections.Generic;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSingleton<Store>();
builder.Services.AddScoped<Visitor>();
var app = builder.Build();
int started = 0;
started++;

var names = new ConcurrentBag<string>();
app.MapGet("/names", () => names.Count);
app.MapPost("/names", (string name) => {
    names.Add(name);
    return Results.Ok();
});
app.MapVisits();
app.Run();

public static class Visits {
    public static void MapVisits(this IEndpointRouteBuilder routes) {
        var group = routes.MapGroup("/visits");
        group.MapPut("/", (Store store, int n) => store.Visit(n));
        group.MapDelete("/", async (Visitor visitor) => visitor.Leave());
    }
}

public class Store {
    readonly object gate = new object();
    int visits;
    public void Visit(int n) { lock (gate) { visits += n; } }
}

public class Visitor {
    int left;
    public void Leave() { left++; }
}
