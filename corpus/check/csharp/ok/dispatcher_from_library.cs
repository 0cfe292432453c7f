// A class that posts to the UI thread may itself be used on the UI thread only.
using System;
using System.Windows;

public class MainWindow : Window {
    private readonly Assemblies assemblies = new Assemblies();
    private void OnUnload(object sender, RoutedEventArgs e) { assemblies.RequestCollection(); }
}

public class Assemblies {
    private static bool requested;
    public void RequestCollection() {
        if (requested) return;
        requested = true;
        Application.Current.Dispatcher.BeginInvoke(new Action(() => { requested = false; }));
    }
}
