// Two actions write one field.
using System.Threading.Tasks;

class Program {
    static int a, b;
    static void Main() {
        Parallel.Invoke(
            () => { a = 1; }, // expect: data-race #1
            () => { a = 2; }); // expect: data-race #1
        a = b;
    }
}
