// A thread is started by a handler that only something outside calls, once the object is open.
using System;
using System.Threading;

public class Reloader {
    private bool open;
    private int loads;

    public void Open() { open = true; }

    public Reloader() { AppDomain.CurrentDomain.ProcessExit += OnChange; }

    private void OnChange(object sender, EventArgs e) {
        if (!open) return;
        var t = new Thread(() => loads++);
        t.Start();
        t.Join();
        loads--;
    }
}
