// A static initialiser that throws is not waited for.
using System;
using System.Threading;

static class Settings {
    public static readonly int Level = Read();
    static int Read() { throw new InvalidOperationException(); }
    public static int Twice() { return Level * 2; }
}

class Program {
    static readonly object gate = new object();
    static void Ask() {
        lock (gate) {
            try { Settings.Twice(); } catch (TypeInitializationException) { } catch (InvalidOperationException) { }
        }
    }
    static void Main() {
        Ask();
        var thread = new Thread(Ask);
        thread.Start();
        Ask();
        thread.Join();
    }
}
