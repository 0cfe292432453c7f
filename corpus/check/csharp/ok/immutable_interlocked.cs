// An immutable dictionary is replaced atomically.
using System.Collections.Immutable;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static ImmutableDictionary<int, string> names = ImmutableDictionary<int, string>.Empty;
    static void Add(int key, string name) {
        ImmutableDictionary<int, string> before, after;
        do {
            before = Volatile.Read(ref names);
            after = before.SetItem(key, name);
        } while (Interlocked.CompareExchange(ref names, after, before) != before);
    }
    static void Main() {
        var task = Task.Run(() => Add(1, "one"));
        Add(2, "two");
        ImmutableInterlocked.TryAdd(ref names, 3, "three");
        task.Wait();
    }
}
