// A static constructor gives away the list that it fills, before it has ended: who has got it needs
// no static field.
using System;
using System.Collections.Generic;
using System.Threading;

static class Names {
    public static readonly List<string> All = new List<string>(1000);
    static Names() {
        Program.Got(All);
        for (int i = 0; i < 40; i++) {
            All.Add("name " + i); // expect: thread-safety-violation
            Thread.Sleep(3);
        }
    }
}

class Program {
    static int found;
    static Thread reader;

    public static void Got(List<string> list) {
        reader = new Thread(() => {
            for (int i = 0; i < 40; i++) {
                found += list.IndexOf("name 1"); // expect: thread-safety-violation
                Thread.Sleep(3);
            }
        });
        reader.Start();
    }

    static void Main() {
        found += Names.All.Capacity;
        reader.Join();
        Console.WriteLine("done");
    }
}
