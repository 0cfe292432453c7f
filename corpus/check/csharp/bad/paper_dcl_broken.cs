// Figure 1 and Table 3, DCL Broken: the field is read outside the lock that guards its write.
using System.Threading;

class Singleton {
    private static Singleton instance;
    private static readonly object locker = new object();
    public static Singleton Get() {
        if (instance == null) { // expect: data-race #1
            lock (locker) {
                if (instance == null) {
                    instance = new Singleton(); // expect: data-race #1
                }
            }
        }
        return instance; // expect: data-race #1
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
