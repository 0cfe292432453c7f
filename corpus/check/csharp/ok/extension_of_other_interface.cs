// Of two extension methods of one name, the one for the object's interface is meant.
using System;
using System.Threading.Tasks;

public class Numbers : IObservable<int> {
    public IDisposable Subscribe(IObserver<int> observer) { return null; }
}

public interface ILater { }

public static class LaterExtensions {
    public static void Each(this ILater source, Action action) { Task.Run(action); }
}

public static class ObservableExtensions {
    public static void Each(this IObservable<int> source, Action action) { action(); }
}

class Program {
    static void Main() {
        int count = 0;
        new Numbers().Each(() => { count++; });
        count++;
    }
}
