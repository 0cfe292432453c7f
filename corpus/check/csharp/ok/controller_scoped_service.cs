// Each request has a service of its own.
using System.Collections.Generic;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;

public class Names {
    private readonly List<string> all = new List<string>();
    public void Add(string name) { all.Add(name); }
}

public class NamesController : Controller {
    private readonly Names names;
    public NamesController(Names names) { this.names = names; }

    [HttpPost]
    public IActionResult Post(string name) {
        names.Add(name);
        return Ok();
    }
}

public class Startup {
    public void ConfigureServices(IServiceCollection services) {
        services.AddScoped<Names>();
    }
}
