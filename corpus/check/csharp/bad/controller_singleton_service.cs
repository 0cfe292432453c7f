// A service that exists once is used by all requests.
using System.Collections.Generic;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;

public class Names {
    private readonly List<string> all = new List<string>();
    public void Add(string name) { all.Add(name); } // expect: thread-safety-violation #1
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
        services.AddSingleton<Names>();
    }
}
