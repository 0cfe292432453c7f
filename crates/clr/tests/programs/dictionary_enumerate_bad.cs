// One thread goes through the values of a dictionary while another adds to it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<int, int> table = new Dictionary<int, int>(1000) { [-1] = 1 };
    static long sum;

    static void First(int i) {
        try {
            table[i] = i;    // expect: thread-safety-violation
        } catch (Exception) { }
    }

    static void Second(int i) {
        try {
            foreach (int value in table.Values)    // expect: thread-safety-violation
                sum += value;
        } catch (Exception) { }
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
