// What a BackgroundWorker has found is used once it is done, on the UI thread.
using System.ComponentModel;
using System.Windows.Forms;

public class Downloads : Form {
    private readonly BackgroundWorker worker = new BackgroundWorker();
    private int loaded;

    public Downloads() {
        worker.DoWork += (sender, e) => { e.Result = 1; };
        worker.RunWorkerCompleted += (sender, e) => { loaded++; Text = "done"; };
    }

    private void OnClick(object sender, System.EventArgs e) {
        worker.RunWorkerAsync();
        loaded = 0;
    }
}
