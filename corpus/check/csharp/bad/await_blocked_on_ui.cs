// The UI thread waits for a task whose rest has to run on the UI thread.
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int answer;

    private async Task<int> Load() {
        await Task.Run(() => { }); // expect: deadlock #1
        return 42;
    }

    private void OnStart(object sender, RoutedEventArgs e) {
        answer = Load().Result; // expect: deadlock #1
    }
}
