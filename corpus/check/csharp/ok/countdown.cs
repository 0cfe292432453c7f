// Both are waited for.
using System.Threading;

class Program {
    static int a, b;
    static void Main() {
        var countdown = new CountdownEvent(2);
        new Thread(() => { a = 1; countdown.Signal(); }) { IsBackground = true }.Start();
        new Thread(() => { b = 1; countdown.Signal(); }) { IsBackground = true }.Start();
        countdown.Wait();
        a++;
        b++;
    }
}
