// Every change is made by the dispatcher.
using System;
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private int done;

    private void OnStart(object sender, RoutedEventArgs e) {
        done = 0;
        Task.Run(() => {
            Dispatcher.BeginInvoke(new Action(() => done++));
            Dispatcher.Invoke(() => done++);
            Application.Current.Dispatcher.Invoke(() => Title = "done " + done);
        });
    }
}
