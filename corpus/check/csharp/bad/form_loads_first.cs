// A window loads once, but a thread that is started then runs beside all later events.
using System;
using System.Threading.Tasks;
using System.Windows.Forms;

public class MainForm : Form {
    private string rules;

    public MainForm() {
        button.Click += ButtonClick;
        Load += MainForm_Load;
    }

    private void ButtonClick(object sender, EventArgs e) {
        rules = "clicked"; // expect: data-race write #1
    }

    private void MainForm_Load(object sender, EventArgs e) {
        Task.Run(() => Console.WriteLine(rules)); // expect: data-race read #1
    }

    private Button button = new Button();
}

static class Program {
    static void Main() {
        Application.Run(new MainForm());
    }
}
