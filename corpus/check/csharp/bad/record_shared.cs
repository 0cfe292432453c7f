// A record with a setter is shared like any object.
using System.Threading.Tasks;

record Settings { public int Level { get; set; } }

class Program {
    static void Main() {
        var settings = new Settings { Level = 1 };
        var task = Task.Run(() => { settings.Level++; }); // expect: data-race #1
        settings.Level++; // expect: data-race #1
        task.Wait();
    }
}
