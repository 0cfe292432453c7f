// A class that uses the dispatcher of its own thread is called on the UI thread. The pool's thread
// is not that one, and neither is what follows an await there.
using System.Threading.Tasks;
using Microsoft.Maui.Dispatching;

public class App {
    static string state, answer;

    public async void Begin() {
        await Dispatcher.GetForCurrentThread().DispatchAsync(() => state = "begun");
        await Task.Run(() => { state = "working"; }); // expect: data-race write #1
        await Task.Delay(10).ConfigureAwait(false);
        answer = "ready"; // expect: data-race write #2
    }

    public void End() {
        state = null; // expect: data-race write #1
        answer = null; // expect: data-race write #2
    }
}
