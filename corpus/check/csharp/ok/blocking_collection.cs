// Who gives it no longer touches it.
using System.Collections.Concurrent;
using System.Linq;
using System.Threading.Tasks;

class Item { public int Value; }
class Program {
    static void Main() {
        var items = new BlockingCollection<Item>();
        var consumer = Task.Run(() => {
            foreach (var item in items.GetConsumingEnumerable()) item.Value++;
        });
        var mine = new Item { Value = 1 };
        items.Add(mine);
        
        items.CompleteAdding();
        consumer.Wait();
        mine.Value = 3;
    }
}
