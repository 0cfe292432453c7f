// Work that a click starts hands what it has found back to the UI thread.
using System;
using System.Threading.Tasks;
using System.Windows.Forms;

public class MainForm : Form {
    private int progress;
    private int clicks;
    private readonly Button button = new Button();

    public MainForm() {
        button.Click += OnClick;
        Controls.Add(button);
    }

    private void OnClick(object sender, EventArgs e) {
        clicks++;
        button.Text = "at " + progress;
        Task.Run(() => {
            BeginInvoke((Action)(() => { progress = 50; }));
            Invoke((Action)(() => { progress = 100; clicks = 0; }));
        });
    }
}
