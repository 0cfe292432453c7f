// The view model of a window is used on the UI thread, and what follows an await there, too.
using System.ComponentModel;
using System.Threading.Tasks;
using System.Windows;

public class MainWindow : Window { }

public class ViewModel : INotifyPropertyChanged {
    public event PropertyChangedEventHandler PropertyChanged;
    private string status;

    public ViewModel() {
        Load();
        status = "made";
    }

    public async Task Load() {
        await Task.Run(() => { });
        status = "loaded";
    }

    public void Clear() {
        status = null;
    }
}
