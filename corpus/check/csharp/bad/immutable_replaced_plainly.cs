// An immutable dictionary is safe; the field that holds it is not.
using System.Collections.Immutable;
using System.Threading.Tasks;

class Program {
    static ImmutableDictionary<int, string> names = ImmutableDictionary<int, string>.Empty;
    static void Main() {
        var task = Task.Run(() => { names = names.Add(1, "one"); }); // expect: data-race #1
        names = names.Add(2, "two"); // expect: data-race #1
        task.Wait();
    }
}
