// All lambdas of a for loop share its variable, which the loop changes.
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var tasks = new List<Task>();
        var cells = new int[4];
        for (int i = 0; i < 4; i++) { // expect: data-race #1
            tasks.Add(Task.Run(() => { int mine = i; cells[0] = mine - mine; })); // expect: data-race #1, data-race #2
        }
        Task.WaitAll(tasks.ToArray());
    }
}
