// Nothing waits for a work item.
using System.Threading;

class Program {
    static int field;
    static void Main() {
        var done = new ManualResetEvent(false);
        ThreadPool.QueueUserWorkItem(_ => { field = 1; done.Set(); }); // expect: data-race #1
        
        field++; // expect: data-race #1
    }
}
