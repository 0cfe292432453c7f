// Tasks. A task that a thread executes names that thread: waiting for the task joins the thread.
public class Task : IDisposable, IAsyncResult {
    public bool __done; public long __handle; public object __value; public object __error; public bool __cancelled;
    Delegate body; object state;
    public object AsyncState; public int Id;
    public Task() { }
    public Task(Delegate f) { body = f; }
    public Task(Delegate f, object a) { body = f; if (!(a is CancellationToken)) state = a; }
    public Task(Delegate f, object a, object b) { body = f; state = a; }
    public void __Finish(object value) {
        if (__done) return;
        __value = value;
        __raddle.Publish(this);
        __done = true;
        __raddle.NotifyAll(this);
    }
    public void __Fail(object error) {
        // A task that fails with an unknown exception is faulted too.
        if (error == null || !__raddle.IsKnown(error)) error = new Exception();
        if (error is OperationCanceledException) __cancelled = true; __error = error; __Finish(null); }
    public object __Result() { if (__error != null) throw __error; return __value; }
    public void __Begin(Delegate f, object argument) {
        __Flow flow = __Flow.Capture();
        Delegate run = () => {
            __Flow.Restore(flow);
            try {
                object r = f(argument);
                if (r is Task) { Task inner = (Task)r; __raddle.Until(inner); r = inner.__Result(); }
                __Finish(r);
            } catch (Exception e) { __Fail(e); }
        };
        __handle = __raddle.Start(__raddle.Function(run), run);
    }
    public void Start() { __Begin(body, state); }
    public void Start(object scheduler) { __Begin(body, state); }
    public void RunSynchronously() { try { __Finish(body(state)); } catch (Exception e) { __Fail(e); } }
    public static Task Run(Delegate f) { Task t = new Task(); t.__Begin(f, null); return t; }
    public static Task Run(Delegate f, object token) { return Run(f); }
    public void Wait() { __raddle.Until(this); if (__error != null) throw new AggregateException(__error); }
    public bool Wait(object timeout) { if (timeout is CancellationToken) { Wait(); return true; } return Wait(timeout, null); }
    public bool Wait(object timeout, object token) {
        bool done = __raddle.UntilTimed(this);
        if (done && __error != null) throw new AggregateException(__error);
        return done;
    }
    public Task WaitAsync(object x) { return this; }
    public object Result { get { __raddle.Until(this); if (__error != null) throw new AggregateException(__error); return __value; } }
    public object GetResult() { __raddle.Until(this); return __Result(); }
    public Task GetAwaiter() { return this; }
    public Task ConfigureAwait(object x) { return this; }
    public Task AsTask() { return this; }
    public Task Unwrap() { return ContinueWith(t => t.__value); }
    public void OnCompleted(Delegate f) { ContinueWith(f); }
    public TaskStatus Status {
        get {
            if (!__done) return TaskStatus.WaitingForActivation;
            __raddle.Learn(this);
            if (__cancelled) return TaskStatus.Canceled;
            return __error != null ? TaskStatus.Faulted : TaskStatus.RanToCompletion;
        }
    }
    public bool IsCompleted { get { if (__done) __raddle.Learn(this); return __done; } }
    public bool IsCompletedSuccessfully { get { if (__done) __raddle.Learn(this); return __done && __error == null; } }
    public bool IsFaulted { get { if (__done) __raddle.Learn(this); return __done && __error != null && !__cancelled; } }
    public bool IsCanceled { get { if (__done) __raddle.Learn(this); return __cancelled; } }
    public object Exception { get { return __error; } }
    public void Dispose() { }
    // A continuation is a thread that first waits for its antecedent, which happens before it.
    public Task ContinueWith(Delegate f) {
        Task before = this;
        Task after = new Task();
        after.__Begin(() => { __raddle.Until(before); return f(before, null); }, null);
        return after;
    }
    public Task ContinueWith(Delegate f, object a) { return ContinueWith(f); }
    public Task ContinueWith(Delegate f, object a, object b) { return ContinueWith(f); }
    public Task ContinueWith(Delegate f, object a, object b, object c) { return ContinueWith(f); }
    public static void WaitAll(params Task[] tasks) { for (int i = 0; i < tasks.Length; i++) tasks[i].Wait(); }
    public static void WaitAll(IEnumerable<Task> tasks) { foreach (Task t in tasks) t.Wait(); }
    public static void WaitAll(Task[] tasks, object timeout) { for (int i = 0; i < tasks.Length; i++) tasks[i].Wait(); }
    public static int WaitAny(params Task[] tasks) {
        while (true) {
            for (int i = 0; i < tasks.Length; i++) { if (tasks[i].__done) { __raddle.Learn(tasks[i]); return i; } }
            __raddle.Sleep();
        }
    }
    public static Task WhenAll(params Task[] tasks) { return __All(tasks); }
    public static Task WhenAll(IEnumerable<Task> tasks) { return __All(Enumerable.ToArray(tasks)); }
    static Task __All(Task[] tasks) {
        Task t = new Task();
        int n = __raddle.ArrayLength(tasks);
        t.__Begin(() => {
            object[] values = new object[n];
            for (int i = 0; i < n; i++) { __raddle.Until(tasks[i]); values[i] = tasks[i].__Result(); }
            return values;
        }, null);
        return t;
    }
    public static Task WhenAny(params Task[] tasks) { return __Any(tasks); }
    public static Task WhenAny(IEnumerable<Task> tasks) { return __Any(Enumerable.ToArray(tasks)); }
    static Task __Any(Task[] tasks) {
        Task t = new Task();
        t.__Begin(() => {
            int i = WaitAny(tasks);
            Task box = new Task();
            box.__Finish(tasks[i]);
            return box;
        }, null);
        return t;
    }
    // Time passes. Other threads may act before or after it.
    public static Task Delay(object t) { return __raddle.Something(); }
    public static Task Delay(object t, object token) { return __raddle.Something(); }
    public static Task Yield() { return __raddle.Something(); }
    public static Task FromResult(object v) { Task t = new Task(); t.__Finish(v); return t; }
    public static Task FromException(object e) { Task t = new Task(); t.__Fail(e); return t; }
    public static Task FromCanceled(object token) { Task t = new Task(); t.__Fail(new TaskCanceledException()); return t; }
    public static Task CompletedTask { get { Task t = new Task(); t.__Finish(null); return t; } }
    public static TaskFactory Factory => new TaskFactory();
}
public class Task<T> : Task {
    public Task(Delegate f) : base(f) { }
    public Task(Delegate f, object a) : base(f, a) { }
    public T Result { get { __raddle.Until(this); return __value; } }
}
public class ValueTask : Task { public ValueTask() { __Finish(null); } public ValueTask(object v) { if (v is Task) { Task t = (Task)v; __raddle.Until(t); __Finish(t.__Result()); } else __Finish(v); } }
public class ValueTask<T> : Task { public T Result; public ValueTask(object v) { if (v is Task) { Task t = (Task)v; __raddle.Until(t); __Finish(t.__Result()); } else __Finish(v); } }
public enum TaskStatus { Created, WaitingForActivation, WaitingToRun, Running, WaitingForChildrenToComplete, RanToCompletion, Canceled, Faulted }
// An unknown function calls the delegates that it gets, and waits for the tasks they return.
public static class __Callback {
    public static void Call(Delegate f) {
        try {
            object result = f(__raddle.Something(), __raddle.Something(), __raddle.Something(), __raddle.Something());
            if (result is Task) { Task t = (Task)result; __raddle.Until(t); }
        } catch (Exception e) { }
    }
}
public class TaskFactory {
    public Task StartNew(Delegate f) { return __Start(f, null); }
    public Task StartNew(Delegate f, object a) { return __Start(f, a); }
    public Task StartNew(Delegate f, object a, object b) { return __Start(f, a); }
    public Task StartNew(Delegate f, object a, object b, object c) { return __Start(f, a); }
    // The result is the inner task, which nobody waits for.
    Task __Start(Delegate f, object a) {
        Task t = new Task();
        __Flow flow = __Flow.Capture();
        Delegate run = () => { __Flow.Restore(flow); try { t.__Finish(f(a)); } catch (Exception e) { t.__Fail(e); } };
        t.__handle = __raddle.Start(__raddle.Function(run), run);
        return t;
    }
    public Task ContinueWhenAll(Task[] tasks, Delegate f) { Task all = Task.WhenAll(tasks); return all.ContinueWith(t => f(tasks)); }
}
public class TaskCompletionSource<T> {
    Task task = new Task();
    public TaskCompletionSource() { }
    public TaskCompletionSource(object a) { }
    public Task<T> Task => task;
    public void SetResult() { task.__Finish(null); }
    public void SetResult(object v) { task.__Finish(v); }
    public bool TrySetResult() { return __Try(null); }
    public bool TrySetResult(object v) { return __Try(v); }
    bool __Try(object v) { if (task.__done) return false; task.__Finish(v); return true; }
    public void SetException(object e) { task.__Fail(e); }
    public bool TrySetException(object e) { if (task.__done) return false; task.__Fail(e); return true; }
    public void SetCanceled() { task.__Fail(new TaskCanceledException()); }
    public bool TrySetCanceled() { task.__Fail(new TaskCanceledException()); return true; }
    public bool TrySetCanceled(object t) { task.__Fail(new TaskCanceledException()); return true; }
}
public class TaskCompletionSource : TaskCompletionSource<object> { public TaskCompletionSource() { } public TaskCompletionSource(object a) { } }
public class CancellationTokenSource : IDisposable {
    int cancelled; Delegate callbacks; CancellationToken token;
    public CancellationTokenSource() { }
    public CancellationTokenSource(object timeout) { cancelled = __raddle.Unknown(); }
    public CancellationToken Token { get { if (token == null) token = new CancellationToken(this); return token; } }
    public bool IsCancellationRequested { get { return __raddle.AtomicLoad(ref cancelled) != 0; } }
    public void Cancel() { __raddle.AtomicStore(ref cancelled, 1); Delegate c = callbacks; callbacks = null; if (c != null) c(null); }
    public void CancelAfter(object t) { cancelled = __raddle.Unknown(); }
    public void Dispose() { }
    public void __Register(Delegate f) { callbacks = Delegate.Combine(callbacks, f); }
    public static CancellationTokenSource CreateLinkedTokenSource(params CancellationToken[] t) { return new CancellationTokenSource(null); }
}
public class CancellationToken {
    CancellationTokenSource source;
    public CancellationToken(CancellationTokenSource s) { source = s; }
    public CancellationToken() { }
    public bool IsCancellationRequested => source != null && source.IsCancellationRequested;
    public bool CanBeCanceled => source != null;
    public void ThrowIfCancellationRequested() { if (IsCancellationRequested) throw new OperationCanceledException(); }
    public object Register(Delegate f) { if (source != null) source.__Register(f); return __raddle.Something(); }
    public static CancellationToken None => new CancellationToken();
}
