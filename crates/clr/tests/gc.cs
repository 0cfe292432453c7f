// Collections that move everything, all the time, while threads are held at points: two shared lists, used wrongly, and many
// that are not shared, among them some with equal hashes before long. Prints how many collections there were.
using System;
using System.Collections.Generic;
using System.Runtime;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static volatile bool over;
    static long worst;

    static void Shared(IList<string> list, int rounds) {
        for (int i = 0; i < rounds; i++) {
            list.Add(new string('x', 20));    // expect: thread-safety-violation
            Thread.Sleep(2);
        }
    }

    static int Alone() {
        int sum = 0;
        while (!over) {
            var mine = new List<object>(4);
            for (int i = 0; i < 8; i++)
                mine.Add(new byte[100]);
            foreach (object item in mine)
                sum += ((byte[])item).Length;
        }
        return sum;
    }

    static void Main() {
        var collector = new Thread(() => {
            while (!over) {
                var clock = System.Diagnostics.Stopwatch.StartNew();
                GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                GC.Collect(2, GCCollectionMode.Forced, true, true);
                worst = Math.Max(worst, clock.ElapsedMilliseconds);
                Thread.Yield();
            }
        });
        collector.Start();
        var alone = new[] { Task.Run(Alone) };
        var list = new List<string>(1000);
        var one = new Thread(() => Shared(list, 120));
        var two = new Thread(() => Shared(list, 120));
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        over = true;
        collector.Join();
        Task.WaitAll(alone);
        foreach (string item in list)
            if (item != null && item.Length != 20)
                throw new Exception("broken");
        Console.WriteLine(GC.CollectionCount(2) + " " + worst);
    }
}
