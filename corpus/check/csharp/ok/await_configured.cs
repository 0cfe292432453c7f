// The rest of the task runs anywhere, so the UI thread may wait for it.
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int answer;

    private async Task<int> Load() {
        await Task.Run(() => { }).ConfigureAwait(false);
        return 42;
    }

    private void OnStart(object sender, RoutedEventArgs e) {
        answer = Load().Result;
    }
}
