// Rounds add to a list at once.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var results = new List<int>();
        Parallel.ForEach(new[] { 1, 2, 3 }, x => {
            results.Add(x * 2); // expect: thread-safety-violation #1
        });
    }
}
