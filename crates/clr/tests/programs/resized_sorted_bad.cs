// One thread copies the array of a field to a longer or shorter one while another sorts it.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static int[] all = new int[1000];
    static void First(int i) {
        Array.Sort(all);                         // expect: thread-safety-violation
    }
    static void Second(int i) {
        Array.Resize(ref all, 1000 + i % 2);     // expect: thread-safety-violation
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
