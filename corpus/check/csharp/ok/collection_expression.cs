// Each task has a list of its own.
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

class Program {
    static void Main() {
        int[] start = [1, 2, 3];
        var tasks = start.Select(n => Task.Run(() => {
            List<int> own = [n, .. start];
            own.Add(n);
            return own.Count;
        })).ToArray();
        Task.WaitAll(tasks);
    }
}
