// A copy of a record is an object of its own.
using System.Threading.Tasks;

record Settings { public int Level { get; set; } }

class Program {
    static void Main() {
        var settings = new Settings { Level = 1 };
        var other = settings with { Level = 2 };
        var task = Task.Run(() => { other.Level++; });
        settings.Level++;
        task.Wait();
    }
}
