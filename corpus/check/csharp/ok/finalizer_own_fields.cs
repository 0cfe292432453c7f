// A finalizer reads what other threads wrote to its object before they let go of it.
using System;
using System.Threading.Tasks;

class Buffer {
    byte[] bytes;
    int used;
    public void Fill() { bytes = new byte[4]; used = 4; }
    ~Buffer() { if (bytes != null && used > 0) bytes[0] = 0; }
}

class Program {
    static void Main() {
        Task.Run(() => new Buffer().Fill()).Wait();
        var other = Task.Run(() => { var b = new Buffer(); b.Fill(); });
        GC.Collect();
        other.Wait();
    }
}
