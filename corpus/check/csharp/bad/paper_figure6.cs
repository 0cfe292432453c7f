// Figure 6: a work item of the pool sets the phase that an asynchronous method polls.
using System.Threading;
using System.Threading.Tasks;

enum Phase { None, Connect, Done }
static class Hub {
    public static void Start() { ThreadPool.QueueUserWorkItem(_ => Run()); }
    static void Run() { Signal(Phase.Connect); }
    static void Signal(Phase phase) { Client.OnPhaseChanged(phase); }
}
static class Client {
    static int phase;
    public static void Main() {
        Hub.Start();
        Run().Wait();
    }
    static async Task Run() {
        while (phase != (int)Phase.Connect) { // expect: data-race #1
            await Task.Delay(10);
        }
    }
    public static void OnPhaseChanged(Phase p) {
        phase = (int)p; // expect: data-race #1
    }
}
