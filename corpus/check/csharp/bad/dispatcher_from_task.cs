// A class that posts to the UI thread is used on another thread.
using System;
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window {
    private readonly Assemblies assemblies = new Assemblies();
    private void OnUnload(object sender, RoutedEventArgs e) { Task.Run(() => assemblies.RequestCollection()); }
}

public class Assemblies {
    private static bool requested;
    public void RequestCollection() {
        if (requested) return; // expect: data-race #1
        requested = true; // expect: data-race #1
        Application.Current.Dispatcher.BeginInvoke(new Action(() => { requested = false; })); // expect: data-race #1
    }
}
