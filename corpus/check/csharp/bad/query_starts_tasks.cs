// A query starts a task for each element, and all of them count.
using System.Linq;
using System.Threading.Tasks;

class Program {
    static int count;
    static void Main() {
        var numbers = new[] { 1, 2, 3 };
        var tasks = (from n in numbers select Task.Run(() => { count += n; })).ToArray(); // expect: data-race #1
        Task.WaitAll(tasks);
    }
}
