// Synchronisation in odd places: the output is the same with and without raddle.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

struct Plain {
    public int Value;
    public async Task<int> Later(int more) { int value = Value; await Task.Yield(); return value + more; }
}

class Generic<T> {
    readonly List<T> list = new List<T>();
    public async Task<List<T>> Add(T item) { await Task.Delay(1); list.Add(item); return list; }
    public async Task<U> Map<U>(Func<T, Task<U>> map) {
        U last = default;
        foreach (T item in list) last = await map(item).ConfigureAwait(false);
        return last;
    }
    public T Locked(T item) { lock (list) { list.Add(item); return list[0]; } }
    public async ValueTask<int> Count() { await Task.Yield(); return list.Count; }
}

class Sources<T> where T : struct {
    readonly TaskCompletionSource<T> source = new TaskCompletionSource<T>();
    public Task<T> Task => source.Task;
    public string Set(T value) {
        string first = source.TrySetResult(value) + " " + source.TrySetResult(default);
        try { source.SetResult(value); } catch (InvalidOperationException) { first += " set already"; }
        return first;
    }
}

// Two static constructors that use each other's classes.
static class Left { public static readonly List<int> Of = new List<int>(); static Left() { Of.Add(Right.Of == null ? 1 : 2); } }
static class Right { public static readonly List<int> Of = new List<int>(); static Right() { Of.Add(Left.Of == null ? 1 : 2); } }
static class Starts { public static readonly int Sum; static Starts() { Sum = Task.Run(() => 20).Result + Left.Of.Count; } }
static class Broken { public static readonly List<int> Of; static Broken() { Of = new List<int> { 1 }; Task.Run(() => { }).Wait(); throw new Exception("no class"); } }

class Program {
    static void Gates() {
        var gate = new ReaderWriterLockSlim(LockRecursionPolicy.SupportsRecursion);
        gate.EnterUpgradeableReadLock();
        gate.EnterWriteLock();
        gate.EnterReadLock();
        Say(gate.TryEnterWriteLock(0) + " " + gate.RecursiveWriteCount);
        gate.ExitWriteLock();
        gate.ExitReadLock();
        gate.ExitWriteLock();
        gate.ExitUpgradeableReadLock();
        try { gate.ExitReadLock(); } catch (SynchronizationLockException) { Say("not read"); }
        var once = new ReaderWriterLockSlim();
        once.EnterReadLock();
        try { once.EnterReadLock(); } catch (LockRecursionException) { Say("no recursion"); }
        Say(once.CurrentReadCount);
    }

    static void Phases() {
        int ended = 0;
        var barrier = new Barrier(1, b => { ended++; if (ended == 2) throw new Exception("of a phase"); });
        barrier.SignalAndWait();
        try { barrier.SignalAndWait(); } catch (BarrierPostPhaseException e) { Say(e.InnerException.Message); }
        Say(barrier.SignalAndWait(10) + " " + barrier.CurrentPhaseNumber);
        barrier.AddParticipant();
        try { barrier.SignalAndWait(new CancellationToken(true)); } catch (OperationCanceledException) { Say("no phase"); }
        Barrier none = null;
        try { none.SignalAndWait(); } catch (NullReferenceException) { Say("no barrier"); }
    }

    static async Task Signals() {
        var sources = new Sources<DateTime>();
        Say(sources.Set(new DateTime(5)));
        Say((await sources.Task).Ticks);
        var source = new TaskCompletionSource<string>("state");
        Action<string> set = source.SetResult;
        set("by a delegate");
        Say(await source.Task + source.Task.AsyncState);
        var cancelled = new TaskCompletionSource<int>();
        Say(cancelled.TrySetCanceled() + " " + cancelled.TrySetException(new Exception()));
        try { await cancelled.Task; } catch (TaskCanceledException) { Say("cancelled"); }
        var turn = new AutoResetEvent(false);
        var thread = new Thread(() => { turn.WaitOne(); Say("in turn"); });
        thread.Start();
        bool set_turn = turn.Set();
        thread.Join();
        Say(set_turn);
        Say(turn.WaitOne(0));
        TaskCompletionSource<int> none = null;
        try { none.SetResult(1); } catch (NullReferenceException) { Say("no source"); }
    }

    static void Classes() {
        Say(Starts.Sum + " " + Left.Of.Count + Right.Of.Count);
        for (int i = 0; i < 2; i++)
            try { Broken.Of.Add(1); } catch (TypeInitializationException e) { Say(e.InnerException.Message); }
        Say(Task.Run(() => Left.Of[0]).Result);
    }

    static readonly List<string> said = new List<string>();

    static void Say(object what) { lock (said) said.Add(what.ToString()); }

    static async void Forget(TaskCompletionSource<int> done) { await Task.Yield(); done.SetResult(7); }

    static async Task<int> Throws(int n) {
        try {
            await Task.Yield();
            if (n > 0) throw new InvalidOperationException("thrown " + n);
            return n;
        } catch (InvalidOperationException e) when (e.Message.EndsWith("1")) {
            await Task.Delay(1);
            return -1;
        } finally {
            await Task.Yield();
        }
    }

    static int Fails(Task task) {
        try { task.Wait(); return 0; } catch (AggregateException e) { return e.InnerExceptions.Count; }
    }

    static int Repeats() { int n = 0; do { n++; } while (n < 5); return n; }

    static SemaphoreSlim Some(bool one) => new SemaphoreSlim(one ? 1 : 2);

    // What Task.Run makes of functions that make tasks, and of those that seem to.
    static async Task Given<T>() where T : class {
        try { await Task.Run((Func<Task>)null); } catch (ArgumentNullException e) { Say(e.ParamName); }
        try { await Task.Run((Func<Task<T>>)null); } catch (ArgumentNullException e) { Say(e.ParamName); }
        Say(await Task.Run<T>(async () => { await Task.Yield(); return "given" as T; }));
        Say(await Task.Run(() => new Generic<T>().Add(null)) is List<T>);
        Say(await await Task.Run<Task<int>>(() => Task.FromResult(12)));
        Func<Task<int>> narrow = () => Task.FromResult(13);
        Func<Task> wide = narrow;
        await Task.Run(wide, CancellationToken.None);
        Say(await Task.Run(narrow, CancellationToken.None) + " " + (wide.Target == narrow.Target));
        try { await Task.Run(() => (Task)null); } catch (TaskCanceledException) { Say("no task"); }
        try { await Task.Run(async () => { await Task.Yield(); throw new Exception("later"); }); } catch (Exception e) { Say(e.Message); }
        Func<Task> now = () => throw new OperationCanceledException("now");
        Task given = Task.Run(now);
        try { await given; } catch (OperationCanceledException e) { Say(e.Message + " " + given.Status); }
        given = Task.Run(async () => await Task.Delay(1), new CancellationToken(true));
        Say(given.Status);
        Say(Task.Run(Thrice).Result);
    }

    static async Task<int> Thrice() { for (int i = 0; i < 3; i++) await Task.Run(async () => await Task.Yield()); return 3; }

    // A mutex is its thread's: what is complete is not awaited elsewhere.
    static async Task Owned(Task complete) {
        var mutex = new Mutex();
        mutex.WaitOne();
        mutex.WaitOne();
        await complete;
        mutex.ReleaseMutex();
        // Not a task: the thread that waits for it may run it itself.
        bool isFree = true;
        var other = new Thread(() => isFree = mutex.WaitOne(0));
        other.Start();
        other.Join();
        Say(isFree);
        await complete;
        mutex.ReleaseMutex();
        try { mutex.ReleaseMutex(); } catch (ApplicationException) { Say("not owned"); }
        var left = new Thread(() => mutex.WaitOne());
        left.Start();
        left.Join();
        try { mutex.WaitOne(); } catch (AbandonedMutexException) { Say("abandoned"); }
        mutex.ReleaseMutex();
        WaitHandle handle = new Mutex(true);
        Say(handle.WaitOne() + " " + WaitHandle.WaitAll(new[] { handle }));
    }

    static async Task Main() {
        Say(await new Plain { Value = 3 }.Later(4));
        var generic = new Generic<long>();
        Say((await generic.Add(5)).Count);
        Say(await generic.Map(async item => { await Task.Yield(); return "mapped " + item; }));
        Say(generic.Locked(6) + await generic.Count());
        var source = new TaskCompletionSource<int>();
        Forget(source);
        Say(await source.Task);
        Say(await Throws(0));
        Say(await Throws(1));
        Say(Fails(Throws(2)));
        Say(Fails(Task.Run(() => { throw new Exception(); })));
        Say(Fails(Task.WhenAll(Task.Run(() => 1), Task.FromException(new Exception()))));
        Say(Fails(Task.FromCanceled(new CancellationToken(true))));
        try { Task.WaitAll(null); } catch (ArgumentNullException) { Say("null"); }
        try { await Task.WhenAll(new Task[] { null }); } catch (ArgumentException) { Say("a null"); }
        try { Monitor.Enter(null); } catch (ArgumentNullException) { Say("no lock"); }
        try { Monitor.Exit(new object()); } catch (SynchronizationLockException) { Say("not locked"); }
        Say(await Task.Factory.StartNew(Repeats));
        Say(await Task.Run(async () => { await Task.Delay(1); return 8; }));
        Say(await Task.Run(() => 1).ContinueWith(one => one.Result + 1).ContinueWith((two, state) => two.Result + (int)state, 7));
        var cold = new Task<int>(() => 11);
        cold.Start();
        Say(cold.Result);
        Say(cold.Wait(1000) && Task.WaitAll(new Task[] { cold }, 1000));
        foreach (bool one in new[] { true, false }) {
            using SemaphoreSlim gate = Some(one);
            gate.Wait();
            Say(await gate.WaitAsync(0));
            Say(gate.Release(one ? 1 : 2));
        }
        var inner = new SemaphoreSlim(1, 1);
        await inner.WaitAsync(CancellationToken.None);
        try { await inner.WaitAsync(new CancellationToken(true)); } catch (OperationCanceledException) { Say("cancelled"); }
        inner.Release();
        try { inner.Release(); } catch (SemaphoreFullException) { Say("full"); }
        var manual = new ManualResetEvent(false);
        var counted = new CountdownEvent(2);
        var thread = new Thread(state => { manual.WaitOne(); counted.Signal(); Say(state); });
        thread.Start("state");
        manual.Set();
        counted.Signal(1);
        counted.Wait();
        thread.Join();
        Say(thread.Join(1));
        manual.Reset();
        Say(manual.WaitOne(0));
        try { counted.Signal(); } catch (InvalidOperationException) { Say("counted"); }
        Say(Enumerable.Range(0, 6).AsParallel().Select(n => Task.Run(() => n).Result).Sum());
        int sum = 0;
        Parallel.For(0, 4, n => Interlocked.Add(ref sum, Task.Run(async () => { await Task.Yield(); return n; }).Result));
        Say(sum);
        var deep = Task.Run(() => Task.Run(() => Task.Run(() => Fails(Throws(3))).Result).Result);
        Say(await deep);
        await Given<string>();
        await Owned(Task.CompletedTask);
        Gates();
        Phases();
        await Signals();
        Classes();
        lock (said) foreach (string line in said) Console.WriteLine(line);
    }
}
