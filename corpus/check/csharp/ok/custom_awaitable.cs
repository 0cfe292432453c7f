// An awaitable of the program's own, of which an overload's lambda gets the maker, starts no thread.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

public interface IQueue { void Add(Action action); }

public class Turn : INotifyCompletion {
    readonly IQueue queue;
    public Turn(IQueue queue) { this.queue = queue; }
    public Turn GetAwaiter() { return this; }
    public bool IsCompleted { get { return false; } }
    public void OnCompleted(Action rest) { queue.Add(rest); }
    public void GetResult() { }
}

public class OneThread : IQueue {
    readonly Queue<Action> actions = new Queue<Action>();
    public void Add(Action action) { actions.Enqueue(action); }
    public void Run() { while (actions.Count > 0) actions.Dequeue()(); }
}

public static class QueueExtensions {
    public static Turn Next(this IQueue queue) { return new Turn(queue); }
    public static void Start(this IQueue queue, Func<IQueue, CancellationToken, Task> f) {
        queue.Add(() => f(queue, CancellationToken.None));
    }
    public static void Start(this IQueue queue, Func<IQueue, CancellationToken, Task<int>> f) {
        queue.Add(() => f(queue, CancellationToken.None));
    }
}

class Program {
    static void Main() {
        int turns = 0;
        var queue = new OneThread();
        queue.Start(async (q, token) => {
            turns++;
            await q.Next();
            turns++;
            await q.Next();
            turns++;
        });
        queue.Run();
        Console.WriteLine(turns);
    }
}
