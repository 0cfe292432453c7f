// Base and derived class have a private field of the same name each.
using System.Threading;

class Bus {
    private string trace;
    protected readonly Thread pump;
    public Bus() {
        trace = "bus";
        pump = new Thread(Pump);
        pump.Start();
    }
    void Pump() { if (trace != null) Thread.Sleep(1); }
}

class RemoteBus : Bus {
    private string trace;
    public RemoteBus() { trace = "remote"; }
    public string Stop() { pump.Join(); return trace; }
}

class Program {
    static void Main() { new RemoteBus().Stop(); }
}
