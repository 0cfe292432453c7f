// Each request has a controller of its own, and what they share is counted atomically.
using System.Threading;
using Microsoft.AspNetCore.Mvc;

[ApiController]
public class HitsController : ControllerBase {
    private static int hits;
    private int own;

    [HttpGet]
    public IActionResult Get() {
        own++;
        return Ok(Interlocked.Increment(ref hits) + own);
    }
}
