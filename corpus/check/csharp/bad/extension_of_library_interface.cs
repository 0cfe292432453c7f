// An extension method of an interface that the program does not declare starts a thread.
using System;
using System.Threading.Tasks;

public class Numbers : IObservable<int> {
    public IDisposable Subscribe(IObserver<int> observer) { return null; }
}

public static class ObservableExtensions {
    public static Task Later(this IObservable<int> source, Action action) { return Task.Run(action); }
}

class Program {
    static void Main() {
        int count = 0;
        var later = new Numbers().Later(() => { count++; }); // expect: data-race #1
        count++; // expect: data-race #1
        later.Wait();
    }
}
