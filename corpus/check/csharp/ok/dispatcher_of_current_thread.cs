// A class that uses the dispatcher of its own thread is called on the UI thread, and what follows an
// await there runs on it again.
using System.Threading.Tasks;
using Microsoft.Maui.Dispatching;

public class App {
    static string state;

    public async void Begin() {
        await Dispatcher.GetForCurrentThread().DispatchAsync(() => state = "begun");
        state = "waiting";
        await Task.Delay(10);
        state = "ready";
    }

    public void End() {
        state = null;
    }
}
