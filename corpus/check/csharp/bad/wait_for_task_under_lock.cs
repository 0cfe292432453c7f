// A task is waited for under the lock that it needs.
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static void Main() {
        Task task;
        lock (gate) {
            task = Task.Run(() => {
                lock (gate) { } // expect: deadlock #1
            });
            task.Wait(); // expect: deadlock #1
        }
        
    }
}
