// What is handed over is still written by who gave it.
using System.Collections.Concurrent;
using System.Linq;
using System.Threading.Tasks;

class Item { public int Value; }
class Program {
    static void Main() {
        var items = new BlockingCollection<Item>();
        var consumer = Task.Run(() => {
            foreach (var item in items.GetConsumingEnumerable()) item.Value++; // expect: data-race #1
        });
        var mine = new Item { Value = 1 };
        items.Add(mine);
        mine.Value = 2; // expect: data-race #1
        items.CompleteAdding();
        consumer.Wait();
        mine.Value = 3;
    }
}
