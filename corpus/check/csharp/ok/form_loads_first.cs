// A window loads once, before anybody can click on it.
using System;
using System.Threading.Tasks;
using System.Windows.Forms;

public class MainForm : Form {
    private string rules, shown;

    public MainForm() {
        button.Click += ButtonClick;
        Load += MainForm_Load;
    }

    private void ButtonClick(object sender, EventArgs e) {
        Task.Run(() => Convert(rules));
    }

    private void MainForm_Load(object sender, EventArgs e) {
        rules = "loaded";
    }

    private void Convert(string by) {
        if (rules != null) Console.WriteLine(by);
    }

    private Button button = new Button();
}

static class Program {
    static void Main() {
        Application.Run(new MainForm());
    }
}
