// expect: nothing
// A mutex protects a list, also where its owner takes it twice or awaits what is complete.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly Mutex mutex = new Mutex();
    static readonly List<int> list = new List<int>();

    static void Add(int item) {
        mutex.WaitOne();
        list.Add(item);
        mutex.ReleaseMutex();
    }

    static async Task AddAfter(Task answered, int item) {
        mutex.WaitOne();
        Add(item);
        await answered;
        list.Add(item);
        mutex.ReleaseMutex();
    }

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 30; i++) { Add(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 30; i++) { AddAfter(Task.CompletedTask, i).Wait(); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine(list.Count == 90 ? "done" : "lost");
    }
}
