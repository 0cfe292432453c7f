// A timed wait for a task that failed throws, and then the task is over.
using System;
using System.Threading.Tasks;

class Program {
    static int failures;
    static void Main() {
        var task = Task.Run(() => {
            failures++;
            throw new InvalidOperationException();
        });
        try {
            task.Wait(1000);
            return;
        } catch (AggregateException) { }
        failures++;
    }
}
