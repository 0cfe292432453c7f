// Each round has an element of its own.
using System.Threading.Tasks;

class Program {
    static void Main() {
        var values = new int[8];
        int sum = 0;
        Parallel.For(0, 8, i => {
            values[i] = i;
        });
        sum += values[0];
    }
}
