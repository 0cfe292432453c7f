// expect: nothing
// A source of ValueTasks that are always complete has no continuations.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

class Always : IValueTaskSource<int> {
    public int GetResult(short token) => 7;
    public ValueTaskSourceStatus GetStatus(short token) => ValueTaskSourceStatus.Succeeded;
    public void OnCompleted(
        Action<object> next, object state, short token, ValueTaskSourceOnCompletedFlags flags
    ) => throw new NotSupportedException();
}

class Program {
    static async Task Main() {
        var list = new List<int>();
        for (int i = 0; i < 20; i++) list.Add(await new ValueTask<int>(new Always(), 0));
        for (int i = 0; i < 20; i++) list.Add(await new ValueTask<int>(new Always(), 0).ConfigureAwait(false));
        Console.WriteLine("done");
    }
}
