// Table 3, DCL Fixed: a volatile field.
using System.Threading;

class Singleton {
    private static volatile Singleton instance;
    private static readonly object locker = new object();
    public static Singleton Get() {
        if (instance == null) {
            lock (locker) {
                if (instance == null) {
                    instance = new Singleton();
                }
            }
        }
        return instance;
    }
}
class Program {
    static void Main() {
        var other = new Thread(() => Singleton.Get());
        other.Start();
        Singleton.Get();
        other.Join();
    }
}
