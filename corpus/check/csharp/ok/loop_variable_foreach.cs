// Each round of a foreach loop has a variable of its own.
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var tasks = new List<Task>();
        var cells = new int[4];
        foreach (int i in new[] { 0, 1, 2, 3 }) {
            tasks.Add(Task.Run(() => { int mine = i; cells[mine % 4] = 0;  }));
        }
        Task.WaitAll(tasks.ToArray());
    }
}
