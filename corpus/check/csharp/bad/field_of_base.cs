// The base's own field is set after its thread was started.
using System.Threading;

class Bus {
    private string trace;
    protected readonly Thread pump;
    public Bus() {
        pump = new Thread(Pump);
        pump.Start();
        trace = "bus"; // expect: data-race #1
    }
    void Pump() { if (trace != null) Thread.Sleep(1); } // expect: data-race #1
}

class RemoteBus : Bus {
    private string trace;
    public RemoteBus() { trace = "remote"; }
    public string Stop() { pump.Join(); return trace; }
}

class Program {
    static void Main() { new RemoteBus().Stop(); }
}
