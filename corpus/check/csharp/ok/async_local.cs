// Each flow of control has a value of its own.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static readonly AsyncLocal<int> current = new AsyncLocal<int>();
    static void Main() {
        current.Value = 1;
        Task task = Task.Run(() => { current.Value = 2; current.Value++; });
        current.Value++;
        task.Wait();
    }
}
