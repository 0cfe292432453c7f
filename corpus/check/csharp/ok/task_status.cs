// The result of a task is used once its status says that it is done.
using System.Threading.Tasks;

class Program {
    static int sum;
    static void Main() {
        var t = Task.Run(() => { sum = 1; });
        while (t.Status != TaskStatus.RanToCompletion) { }
        sum++;
    }
}
