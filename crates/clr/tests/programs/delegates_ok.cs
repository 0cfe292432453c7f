// expect: nothing
// Delegates of listed methods, of several methods, of none.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Check(bool ok, string what) { if (!ok) throw new Exception(what); }
    static void Main() {
        var list = new List<int>();
        Action<int> add = list.Add;
        Check(ReferenceEquals(add.Target, list), "target");
        var copy = (Action<int>)Delegate.CreateDelegate(typeof(Action<int>), add.Target, add.Method);
        copy(1);
        Action<int> two = add + list.Add;
        two(2);
        Check(list.Count == 3 && two.GetInvocationList().Length == 2, "count");
        Func<int> size = () => list.Count;
        Action work = () => list.Add(1);
        work += () => list.Add(2);
        Task.Run(work).Wait();
        Check(list.Count == 5, "multicast " + list.Count);
        Task<object> wide = Task.Run<object>((Func<string>)(() => "x"));
        Check((string)wide.Result == "x", "variance");
        Task.Run(list.Clear).Wait();
        Check(list.Count == 0, "cleared");
        Check(Task.Factory.StartNew(state => state, "s").AsyncState as string == "s", "state");
        int nulls = 0;
        try { Task.Run((Action)null); } catch (ArgumentNullException) { nulls++; }
        try { Task.Run((Func<Task>)null); } catch (ArgumentNullException) { nulls++; }
        try { new Thread((ThreadStart)null); } catch (ArgumentNullException) { nulls++; }
        try { ThreadPool.QueueUserWorkItem(null); } catch (ArgumentNullException) { nulls++; }
        try { Task.CompletedTask.ContinueWith((Action<Task>)null); } catch (ArgumentNullException) { nulls++; }
        try { Task.Factory.StartNew((Action)null); } catch (ArgumentNullException) { nulls++; }
        Check(nulls == 6, "nulls " + nulls);
        Console.WriteLine("done");
    }
}
