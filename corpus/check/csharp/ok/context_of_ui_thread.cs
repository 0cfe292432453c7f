// A class that keeps the context of the thread that made it raises its event there.
using System;
using System.Threading;
using System.Windows.Forms;

public class Recorder {
    private readonly SynchronizationContext context;
    public event Action Stopped;

    public Recorder() {
        context = SynchronizationContext.Current;
    }

    public void Start() {
        new Thread(Record).Start();
    }

    private void Record() {
        var handler = Stopped;
        if (handler == null) return;
        if (context == null) handler();
        else context.Post(state => handler(), null);
    }
}

public class MainForm : Form {
    private int stops;
    private Recorder recorder;

    private void OnStart(object sender, EventArgs e) {
        recorder = new Recorder();
        recorder.Stopped += () => stops++;
        recorder.Start();
    }

    private void OnShow(object sender, EventArgs e) {
        Text = "stops: " + stops;
    }
}
