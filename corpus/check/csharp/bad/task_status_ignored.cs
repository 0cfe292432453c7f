// The status of a task is looked at, and what it made is used all the same.
using System.Threading.Tasks;

class Program {
    static int sum;
    static void Main() {
        var t = Task.Run(() => { sum = 1; }); // expect: data-race #1
        if (t.Status == TaskStatus.Faulted) return;
        sum++; // expect: data-race #1
        t.Wait();
    }
}
