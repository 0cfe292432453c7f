// expect: nothing
// An exception filter counts what it sees under a lock.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly Dictionary<string, int> seen = new Dictionary<string, int>();
    static bool Count(Exception e) {
        lock (seen) {
        seen[e.Message] = 1;
        }
        return true;
    }
    static void First(int i) {
        try { throw new Exception("one"); } catch (Exception e) when (Count(e)) { }
    }
    static void Second(int i) {
        try { throw new Exception("two"); } catch (Exception e) when (Count(e)) { }
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
