// A thread that runs a dispatcher of its own says when it is ready.
using System;
using System.Threading;
using System.Windows;
using System.Windows.Threading;

public class MainWindow : Window { }

public class DispatcherThread {
    public DispatcherThread() {
        var ready = new ManualResetEvent(false);
        new Thread(() => {
            Dispatcher.CurrentDispatcher.BeginInvoke(new Action(() => ready.Set()));
            Dispatcher.Run();
        }).Start();
        ready.WaitOne();
    }
}
