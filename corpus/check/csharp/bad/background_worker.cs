// The work of a BackgroundWorker runs on another thread.
using System.ComponentModel;
using System.Windows.Forms;

public class Downloads : Form {
    private readonly BackgroundWorker worker = new BackgroundWorker();
    private int loaded;

    public Downloads() {
        worker.DoWork += (sender, e) => { loaded++; }; // expect: data-race #1
        worker.RunWorkerCompleted += (sender, e) => Text = "done";
    }

    private void OnClick(object sender, System.EventArgs e) {
        worker.RunWorkerAsync();
        loaded = 0; // expect: data-race #1
    }
}
