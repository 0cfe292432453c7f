// What would hang, throw or look different if `await` of a complete task went on in another thread: locks that are a
// thread's own, static constructors, a pool with few threads. And the lines of stack traces.
using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Runtime.CompilerServices;
using System.Threading; using System.Threading.Tasks;

class Constructed {
    public static readonly List<int> Items = new List<int>();
    public static int Count;
    static Constructed() { Load().Wait(); }
    static async Task Load() { await Task.CompletedTask; Items.Add(1); Count = Items.Count; }
}

class Synchronized {
    readonly List<int> items = new List<int>();
    [MethodImpl(MethodImplOptions.Synchronized)] public int Fill() { Load().Wait(); return items.Count; }
    [MethodImpl(MethodImplOptions.Synchronized)] void Put() => items.Add(1);
    async Task Load() { await Task.CompletedTask; Put(); }
}

class Spinning {
    SpinLock guard = new SpinLock(true);
    public readonly List<int> Items = new List<int>();
    public async Task Load() {
        bool got = false;
        guard.Enter(ref got);
        await Task.CompletedTask;
        Items.Add(1);
        guard.Exit();
    }
}

class Program {
    static readonly List<int> items = new List<int>();

    static void Monitors() {
        var guard = new object();
        async Task Load() { await Task.CompletedTask; lock (guard) items.Add(1); }
        if (Monitor.TryEnter(guard)) { Load().Wait(); Monitor.Exit(guard); }
        if (Monitor.TryEnter(guard, 1000)) { Load().Wait(); Monitor.Exit(guard); }
        bool got = false;
        Monitor.TryEnter(guard, 1000, ref got);
        Load().Wait();
        Monitor.Exit(guard);
        // Who has not got it does not hold it.
        lock (guard) { var other = new Thread(() => Say(Monitor.TryEnter(guard, 1) || Monitor.TryEnter(guard))); other.Start(); other.Join(); }
        Say(items.Count);
    }

    static async Task Slim(ReaderWriterLockSlim guard) {
        guard.TryEnterWriteLock(1000); await Task.CompletedTask; items.Add(1); guard.ExitWriteLock();
        guard.TryEnterReadLock(1000); await Task.CompletedTask; items.Add(1); guard.ExitReadLock();
        guard.TryEnterUpgradeableReadLock(1000); await Task.CompletedTask; items.Add(1); guard.ExitUpgradeableReadLock();
        Say(items.Count);
    }

    static async Task Older(ReaderWriterLock guard) {
        guard.AcquireWriterLock(1000); await Task.CompletedTask; items.Add(1); guard.ReleaseWriterLock();
        guard.AcquireReaderLock(1000); await Task.CompletedTask; items.Add(1); guard.ReleaseReaderLock();
        Say(items.Count);
    }

    static async Task Mutexes(Mutex guard) {
        Say(guard.WaitOne(1000)); await Task.CompletedTask; items.Add(1); guard.ReleaseMutex();
        Say(items.Count);
    }

    static async Task Owned(Mutex guard) {
        await Task.CompletedTask; items.Add(1); guard.ReleaseMutex();
        Say(items.Count);
    }

    static async Task Among(Action<Mutex> wait) {
        var guard = new Mutex(false);
        wait(guard); await Task.CompletedTask; items.Add(1); guard.ReleaseMutex();
        Say(items.Count);
    }

    // A thread that has waited for several handles counts as holding one for good: each has its own thread.
    static void Apart(Func<Task> work) { var own = new Thread(() => work().Wait()); own.Start(); own.Join(); }

    static void Handles() {
        bool yes = items.Count > 0;
        Apart(() => Owned(new Mutex(true)));
        Apart(() => Owned(new Mutex(yes)));
        Apart(() => Owned(new Mutex(true, null)));
        Apart(() => Owned(new Mutex(true, null, out bool made)));
        Apart(() => Among(guard => WaitHandle.WaitAny(new WaitHandle[] { guard })));
        Apart(() => Among(guard => WaitHandle.WaitAny(new WaitHandle[] { guard }, 1000)));
        Apart(() => Among(guard => WaitHandle.WaitAll(new WaitHandle[] { guard })));
        Apart(() => Among(guard => WaitHandle.SignalAndWait(new ManualResetEvent(false), guard)));
    }

    static async Task<int> Load() { var own = new List<int>(); own.Add(1); await Task.CompletedTask; own.Add(2); return own.Count; }

    static void Pool() {
        ThreadPool.SetMinThreads(2, 2);
        ThreadPool.SetMaxThreads(2, 2);
        Task<int>[] all = Enumerable.Range(0, 8).Select(_ => Task.Run(() => Load().Result)).ToArray();
        Task.WaitAll(all);
        Say(all.Sum(task => task.Result));
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static void Throw(List<int> list) {
        list.Add(1);
        list.Add(2); list.Insert(0, 3); list.Sort();
        list.Add(list[100]);
        list.Add(3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static void Lines(List<int> list) {
        list.Add(1);
        list.AddRange(list); list.Reverse();
        Throw(list);
        list.Add(2);
    }

    static void Say(object o) => Console.WriteLine(o);

    static void Main() {
        var late = new Timer(_ => { Say("it hangs"); Environment.Exit(3); }, null, 60000, -1);
        Say(Constructed.Count);
        Say(new Synchronized().Fill());
        var spinning = new Spinning(); spinning.Load().Wait(); Say(spinning.Items.Count);
        Monitors();
        Slim(new ReaderWriterLockSlim()).Wait();
        Older(new ReaderWriterLock()).Wait();
        Mutexes(new Mutex()).Wait();
        Handles();
        try { Lines(new List<int>()); }
        catch (ArgumentException e) { foreach (StackFrame f in new StackTrace(e, true).GetFrames()) Say(f.GetMethod().Name + " " + f.GetFileLineNumber()); }
        Pool();
        GC.KeepAlive(late);
    }
}
