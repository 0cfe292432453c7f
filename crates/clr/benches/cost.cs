// Nanoseconds of processor time that an operation takes, the least of some rounds. Each is of one
// thread and, but for the first, on an object that no other thread uses.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

class Cost {
    const int Rounds = 5;
    const int Times = 20_000_000;
    static readonly object unlisted = new object();
    static int sum;

    static void Measure(string name, Action<int> repeat) {
        repeat(1000);
        double least = double.MaxValue;
        for (int round = 0; round < Rounds; round++) {
            TimeSpan begin = Process.GetCurrentProcess().TotalProcessorTime;
            repeat(Times);
            TimeSpan used = Process.GetCurrentProcess().TotalProcessorTime - begin;
            least = Math.Min(least, used.TotalMilliseconds * 1e6 / Times);
        }
        Console.WriteLine(name + "\t" + least.ToString("F1"));
    }

    static void Main() {
        var dictionary = new Dictionary<int, int> { [1] = 1 };
        var list = new List<int> { 1 };
        IList<int> behind = new List<int> { 1 };
        var gate = new object();
        var items = new List<int>();
        for (int i = 0; i < 1000; i++) items.Add(i);
        Measure("the empty probe (Array.Resize of null)", n => {
            int[] none;
            for (int i = 0; i < n; i++) { none = null; Array.Resize(ref none, 0); }
        });
        Measure("Dictionary set", n => { for (int i = 0; i < n; i++) dictionary[1] = i; });
        Measure("Dictionary get", n => { for (int i = 0; i < n; i++) sum += dictionary[1]; });
        Measure("List set", n => { for (int i = 0; i < n; i++) list[0] = i; });
        Measure("List get", n => { for (int i = 0; i < n; i++) sum += list[0]; });
        Measure("foreach over a List, an item", n => {
            for (int i = 0; i < n / 1000; i++) foreach (int item in items) sum += item;
        });
        Measure("IList set", n => { for (int i = 0; i < n; i++) behind[0] = i; });
        Measure("ToString of an object that is not listed", n => {
            for (int i = 0; i < n; i++) sum += unlisted.ToString().Length;
        });
        Measure("lock", n => { for (int i = 0; i < n; i++) lock (gate) sum += i; });
        Measure("await of a complete task", n => Awaits(n).Wait());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static async Task Awaits(int n) {
        for (int i = 0; i < n; i++) await Task.CompletedTask;
    }
}
