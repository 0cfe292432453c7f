// A class that is made on a thread of the pool finds no context there, and raises its event on its
// own thread.
using System;
using System.Threading;
using System.Threading.Tasks;
using System.Windows.Forms;

public class Recorder {
    private readonly SynchronizationContext context;
    private readonly Action stopped;

    public Recorder(Action stopped) {
        context = SynchronizationContext.Current;
        this.stopped = stopped;
    }

    public void Start() {
        new Thread(Record).Start();
    }

    private void Record() {
        if (context == null) stopped();
        else context.Post(state => stopped(), null);
    }
}

public class MainForm : Form {
    private int stops;

    private void OnStart(object sender, EventArgs e) {
        Task.Run(() => new Recorder(() => stops++).Start()); // expect: data-race #1
    }

    private void OnShow(object sender, EventArgs e) {
        Text = "stops: " + stops; // expect: data-race #1
    }
}
