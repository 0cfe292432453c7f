// One of two signals is enough for the waiter.
using System;
using System.Threading;

class Program {
    static int a, b;
    static void Main() {
        var countdown = new CountdownEvent(1);
        new Thread(() => { a = 1; try { countdown.Signal(); } catch (InvalidOperationException) { } }) { IsBackground = true }.Start(); // expect: data-race #1
        new Thread(() => { b = 1; try { countdown.Signal(); } catch (InvalidOperationException) { } }) { IsBackground = true }.Start(); // expect: data-race #2
        countdown.Wait();
        a++; // expect: data-race #1
        b++; // expect: data-race #2
    }
}
