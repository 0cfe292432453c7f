// What follows an await runs on the UI thread, as all other events do.
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int answer;

    private async void OnStart(object sender, RoutedEventArgs e) {
        await Task.Run(() => { });
        answer++;
        await Task.Delay(10);
        answer++;
    }

    private void OnShow(object sender, RoutedEventArgs e) {
        Title = "is " + answer;
    }
}
