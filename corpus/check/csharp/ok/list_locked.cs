// Both hold a lock.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int> { 1, 2 };
    static void Main() {
        var t = Task.Run(() => { lock (list) list.Add(3); });
        lock (list) {
            foreach (var x in list) { }
        }
        t.Wait();
    }
}
