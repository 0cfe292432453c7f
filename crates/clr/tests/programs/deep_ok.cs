// expect: nothing
// A recursion that just fits on its stack.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly List<int> seen = new List<int>();
    static int Down(int n, string a, string b, List<int> list) {
        if (n == 0) return list.Count;
        if (a.Length > 3) list.Insert(0, n);
        if (a.Length > 4) list.AddRange(new[] { n });
        if (a.Length > 5) list.RemoveRange(0, 1);
        if (a.Length > 6) list[0] = n;
        return Down(n - 1, b, a, list) + 1;
    }
    static void Main() {
        int n = 0;
        var thread = new Thread(() => n = Down(1500, "a", "b", seen), 512 * 1024);
        thread.Start();
        thread.Join();
        Console.WriteLine(n == 1500 ? "done" : "wrong");
    }
}
