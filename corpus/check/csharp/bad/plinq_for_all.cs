// The steps of a parallel query share a counter.
using System.Linq;

class Program {
    static void Main() {
        int even = 0;
        Enumerable.Range(0, 100).AsParallel().ForAll(i => {
            if (i % 2 == 0) even++; // expect: data-race #1
        });
        System.Console.WriteLine(even);
    }
}
