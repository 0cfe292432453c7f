// It is waited for outside of it.
using System.Threading.Tasks;

class Program {
    static readonly object gate = new object();
    static void Main() {
        Task task;
        lock (gate) {
            task = Task.Run(() => {
                lock (gate) { }
            });
            
        }
        task.Wait();
    }
}
