// Two tasks append to one builder.
using System.Linq;
using System.Text;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var shared = new StringBuilder();
        var tasks = Enumerable.Range(0, 2).Select(i => Task.Run(() => {
            var builder = shared;
            builder.Append("x"); // expect: thread-safety-violation #1
        })).ToArray();
        Task.WaitAll(tasks);
    }
}
