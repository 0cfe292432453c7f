// A timed wait may end before the task does.
using System;
using System.Threading.Tasks;

class Program {
    static int failures;
    static void Main() {
        var task = Task.Run(() => {
            failures++; // expect: data-race #1
        });
        task.Wait(10);
        failures++; // expect: data-race #1
    }
}
