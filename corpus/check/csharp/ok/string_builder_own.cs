// Each has its own.
using System.Linq;
using System.Text;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var shared = new StringBuilder();
        var tasks = Enumerable.Range(0, 2).Select(i => Task.Run(() => {
            var builder = new StringBuilder();
            builder.Append("x");
        })).ToArray();
        Task.WaitAll(tasks);
    }
}
