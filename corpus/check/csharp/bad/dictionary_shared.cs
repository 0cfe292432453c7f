// Two threads write a dictionary.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly Dictionary<int, string> map = new Dictionary<int, string>();
    static void Main() {
        var t = Task.Run(() => { map[1] = "one"; }); // expect: thread-safety-violation #1
        map[2] = "two"; // expect: thread-safety-violation #1
        t.Wait();
    }
}
