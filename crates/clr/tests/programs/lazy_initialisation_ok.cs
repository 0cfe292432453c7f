// expect: nothing
// A table that whoever comes first makes and fills, under a lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Names {
    static readonly object gate = new object();
    static Dictionary<string, int> names;

    public static int Get(string name, int value) {
        lock (gate) {
        names ??= new Dictionary<string, int>(1000);
        if (!names.TryGetValue(name, out int known))
            names[name] = known = value;
        return known;
        }
    }
}

class Program {
    static void Main() {
        Names.Get("first", 0);
        Parallel.For(0, 2, n => {
            for (int i = 0; i < 40; i++) {
                Names.Get(n + "." + i, i);
                Thread.Sleep(3);
            }
        });
        Console.WriteLine("done");
    }
}
