// A local function runs on two threads.
using System.Threading;

class Program {
    static void Main() {
        int hits = 0;
        var gate = new object();
        void Hit() {
             hits++; // expect: data-race #1
        }
        var t = new Thread(Hit);
        t.Start();
        Hit();
        t.Join();
    }
}
