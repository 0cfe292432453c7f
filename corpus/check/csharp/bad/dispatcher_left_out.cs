// One of two changes is not handed to the dispatcher.
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int done;

    private void OnStart(object sender, RoutedEventArgs e) {
        done = 0; // expect: data-race write #1
        Task.Run(() => {
            done++; // expect: data-race #1
            Dispatcher.Invoke(() => Title = "done");
        });
    }
}
