// Requests run at the same time, each with a controller of its own.
using Microsoft.AspNetCore.Mvc;

[ApiController]
public class HitsController : ControllerBase {
    private static int hits;

    [HttpGet]
    public IActionResult Get() {
        hits++; // expect: data-race #1
        return Ok(hits); // expect: data-race read #1
    }
}
