// The UI thread waits for a thread that only leaves it a message.
using System;
using System.Threading;
using System.Windows.Forms;

public class MainForm : Form {
    private int progress;

    public MainForm() {
        Load += OnLoad;
    }

    private void OnLoad(object sender, EventArgs e) {
        var worker = new Thread(() => {
            BeginInvoke((Action)(() => { progress = 100; }));
        });
        worker.Start();
        worker.Join();
    }
}
