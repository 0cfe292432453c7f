// A timer of the UI thread reads what a task writes.
using System;
using System.Threading.Tasks;
using System.Windows;
using System.Windows.Threading;

public class Clock : Window {
    private int seconds;
    private readonly DispatcherTimer timer = new DispatcherTimer();

    public Clock() {
        timer.Tick += OnTick;
        timer.Start();
    }

    private void OnTick(object sender, EventArgs e) {
        Title = "now " + seconds; // expect: data-race read #1
    }

    private void OnStart(object sender, RoutedEventArgs e) {
        Task.Run(() => { seconds++; }); // expect: data-race #1
    }
}
