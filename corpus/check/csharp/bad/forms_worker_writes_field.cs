// A click starts work that changes a field which later clicks read, outside of the UI thread.
using System;
using System.Threading.Tasks;
using System.Windows.Forms;

public class MainForm : Form {
    private int progress;
    private readonly Button button = new Button();

    public MainForm() {
        button.Click += OnClick;
        Controls.Add(button);
    }

    private void OnClick(object sender, EventArgs e) {
        button.Text = "at " + progress; // expect: data-race read #1
        Task.Run(() => {
            progress = 100; // expect: data-race write #1
        });
    }
}
