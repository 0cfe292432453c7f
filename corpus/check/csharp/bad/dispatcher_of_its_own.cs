// A class of the program's own that is called Dispatcher says nothing of a UI thread: what follows
// `await` runs on another thread.
using System;
using System.Threading.Tasks;

public class Dispatcher {
    public static Dispatcher GetForCurrentThread() { return new Dispatcher(); }
    public void Enqueue(Action a) { a(); }
}

public class Store {
    private string state;
    private int queued;
    public Store() {
        Load();
        state = "made"; // expect: data-race #1
        Dispatcher.GetForCurrentThread().Enqueue(() => queued++);
    }
    public async Task Load() {
        await Task.Run(() => { });
        state = "loaded"; // expect: data-race #1
    }
}
