// What follows ConfigureAwait(false) does not run on the UI thread.
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int answer;

    private async void OnStart(object sender, RoutedEventArgs e) {
        await Task.Run(() => { }).ConfigureAwait(false);
        answer++; // expect: data-race #1
    }

    private void OnShow(object sender, RoutedEventArgs e) {
        Title = "is " + answer; // expect: data-race read #1
    }
}
