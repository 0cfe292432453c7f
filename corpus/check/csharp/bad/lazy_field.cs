// A value is made on first use by two threads.
using System.Threading;

class Service { public int Calls = 1; }
class Program {
    static Service service;
    static Service Get() {
        return service ?? (service = new Service()); // expect: data-race #1
    }
    static void Main() {
        var t = new Thread(() => Get());
        t.Start();
        Get();
        t.Join();
    }
}
