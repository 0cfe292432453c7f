// A volatile write publishes what was written before it.
using System.Threading;

class Program {
    static bool ready;
    static int data;
    static void Main() {
        var thread = new Thread(() => {
            while (!Volatile.Read(ref ready)) { }
            data++;
        });
        thread.Start();
        data = 1;
        Volatile.Write(ref ready, true);
        thread.Join();
    }
}
