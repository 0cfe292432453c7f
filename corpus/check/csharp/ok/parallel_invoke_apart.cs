// Two actions write a field each.
using System.Threading.Tasks;

class Program {
    static int a, b;
    static void Main() {
        Parallel.Invoke(
            () => { a = 1; },
            () => { b = 2; });
        a = b;
    }
}
