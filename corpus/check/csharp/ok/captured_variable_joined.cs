// The local is read after the task has ended.
using System.Threading.Tasks;

class Program {
    static void Main() {
        int sum = 0;
        var task = Task.Run(() => { sum = 5; });
        task.Wait();
        if (sum > 0) sum = 1;
        task.Wait();
    }
}
