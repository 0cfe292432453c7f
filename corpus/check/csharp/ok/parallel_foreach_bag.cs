// Rounds add to a bag.
using System.Collections.Concurrent;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var results = new ConcurrentBag<int>();
        Parallel.ForEach(new[] { 1, 2, 3 }, x => {
            results.Add(x * 2);
        });
    }
}
