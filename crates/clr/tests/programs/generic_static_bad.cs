// A static list of a generic class is filled by three threads.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Registry<T> {
    public static readonly List<T> All = new List<T>(1000);
}

class Program {
    static void Register(string name) {
        Registry<string>.All.Add(name);    // expect: thread-safety-violation
    }

    static void Main() {
        var threads = new Thread[3];
        for (int n = 0; n < threads.Length; n++) {
            threads[n] = new Thread(() => { for (int i = 0; i < 30; i++) { Register("x" + i); Thread.Sleep(3); } });
            threads[n].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine("done");
    }
}
