// All rounds add to one variable.
using System.Threading.Tasks;

class Program {
    static void Main() {
        var values = new int[8];
        int sum = 0;
        Parallel.For(0, 8, i => {
            sum += i; // expect: data-race #1
        });
        sum += values[0];
    }
}
