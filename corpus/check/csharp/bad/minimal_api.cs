// Handlers of a minimal API run at the same time: a captured list, and a store that exists once.
using System.Collections.Generic;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSingleton<Store>();
var app = builder.Build();
app.UseHttpsRedirection();

var names = new List<string>();
app.MapGet("/names", () => names.Count); // expect: thread-safety-violation #1
app.MapPost("/names", (string name) => {
    names.Add(name); // expect: thread-safety-violation #1
    return Results.Ok();
}).WithName("add");

var group = app.MapGroup("/visits");
group.MapPut("/", (Store store, int n) => store.Visit(n));
app.Run();

public class Store {
    int visits;
    public void Visit(int n) { visits += n; } // expect: data-race #2
}
