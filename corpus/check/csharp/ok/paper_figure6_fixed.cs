// As figure 6, with accesses that order.
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
        while (Volatile.Read(ref phase) != (int)Phase.Connect) {
            await Task.Delay(10);
        }
    }
    public static void OnPhaseChanged(Phase p) {
        Volatile.Write(ref phase, (int)p);
    }
}
