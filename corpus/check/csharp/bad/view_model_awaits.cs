// The view model of a window is used on the UI thread, but its tasks run elsewhere. Another class
// is used by any thread.
using System.ComponentModel;
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window { }

public class ViewModel : INotifyPropertyChanged {
    public event PropertyChangedEventHandler PropertyChanged;
    private string status;

    public async Task Load() {
        await Task.Run(() => status = "loading"); // expect: data-race write #1
    }

    public void Clear() {
        status = null; // expect: data-race write #1
    }
}

public class Store {
    private string state;

    public Store() {
        Load();
        state = "made"; // expect: data-race write #2
    }

    public async Task Load() {
        await Task.Run(() => { });
        state = "loaded"; // expect: data-race write #2
    }
}
