// A list is enumerated while another thread adds.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static readonly List<int> list = new List<int> { 1, 2 };
    static void Main() {
        var t = Task.Run(() => {  list.Add(3); }); // expect: thread-safety-violation #1
         {
            foreach (var x in list) { } // expect: thread-safety-violation #1
        }
        t.Wait();
    }
}
