// A lambda on another thread shares a local.
using System.Threading.Tasks;

class Program {
    static void Main() {
        int sum = 0;
        var task = Task.Run(() => { sum = 5; }); // expect: data-race #1
        
        if (sum > 0) sum = 1; // expect: data-race #1
        task.Wait();
    }
}
