// The UI thread waits for a thread that waits for the UI thread.
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
            Invoke((Action)(() => { progress = 100; })); // expect: deadlock #1
        });
        worker.Start();
        worker.Join(); // expect: deadlock #1
    }
}
