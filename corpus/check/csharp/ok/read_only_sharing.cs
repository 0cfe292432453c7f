// Objects that nobody changes are shared freely.
using System.Collections.Generic;
using System.Threading.Tasks;

class Config { public readonly int Size = 3; public string Name = "x"; }
class Program {
    static void Main() {
        var config = new Config();
        int total = 0;
        var tasks = new List<Task<int>>();
        for (int i = 0; i < 3; i++) tasks.Add(Task.Run(() => config.Size + config.Name.Length));
        foreach (var t in tasks) total += t.Result;
    }
}
