// expect: nothing
// Waits with limits that tell whether they were in time.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int>(1000);
    static void Main() {
        for (int i = 0; i < 10; i++) {
            Task task = Task.Run(() => { list.Add(1); Thread.Sleep(1); list.Add(2); });
            while (!task.Wait(5)) { }
            list.Contains(i);
            var thread = new Thread(() => list.Add(3));
            thread.Start();
            while (!thread.Join(1)) { }
            list.Contains(i);
            var gate = new SemaphoreSlim(0);
            ThreadPool.QueueUserWorkItem(_ => { list.Add(4); gate.Release(); });
            while (!gate.Wait(3)) { }
            list.Remove(4);
        }
        Console.WriteLine("done");
    }
}
