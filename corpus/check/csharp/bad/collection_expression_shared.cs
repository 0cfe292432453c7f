// A list that a collection expression makes is as unsafe as any other.
using System.Collections.Generic;
using System.Threading.Tasks;

class Program {
    static void Main() {
        List<int> numbers = [1, 2, 3];
        var task = Task.Run(() => numbers.Add(4)); // expect: thread-safety-violation #1
        numbers.Add(5); // expect: thread-safety-violation #1
        task.Wait();
    }
}
