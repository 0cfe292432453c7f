// A timer of the UI thread ticks between other events.
using System;
using System.Windows;
using System.Windows.Threading;

public class Clock : Window {
    private int seconds;
    private readonly DispatcherTimer timer = new DispatcherTimer();

    public Clock() {
        timer.Tick += OnTick;
        timer.Start();
    }

    private void OnTick(object sender, EventArgs e) { seconds++; }

    private void OnReset(object sender, RoutedEventArgs e) { seconds = 0; }
}
