// Lazy makes it once.
using System;
using System.Threading;

class Service { public int Calls = 1; }
class Program {
    static readonly Lazy<Service> service = new Lazy<Service>(() => new Service());
    static Service Get() {
        return service.Value;
    }
    static void Main() {
        var t = new Thread(() => Get());
        t.Start();
        Get();
        t.Join();
    }
}
