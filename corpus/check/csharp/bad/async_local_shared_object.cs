// The value of an AsyncLocal flows to what is started, so its object is shared.
using System.Threading;
using System.Threading.Tasks;

class Box { public int Value; }

class Program {
    static readonly AsyncLocal<Box> current = new AsyncLocal<Box>();
    static void Main() {
        current.Value = new Box();
        Task task = Task.Run(() => { current.Value.Value++; }); // expect: data-race #1
        current.Value.Value++; // expect: data-race #1
        task.Wait();
    }
}
