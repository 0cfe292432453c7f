// Two threads write a concurrent dictionary.
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly ConcurrentDictionary<int, string> map = new ConcurrentDictionary<int, string>();
    static void Main() {
        var t = Task.Run(() => { map[1] = "one"; });
        map[2] = "two";
        t.Wait();
    }
}
