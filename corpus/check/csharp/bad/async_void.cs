// Nobody can wait for async void.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int shared;
    static async void Fire() {
        await Task.Yield();
        shared++; // expect: data-race #1
    }
    static void Main() {
        Fire();
        shared++; // expect: data-race #1
        Thread.Sleep(50);
    }
}
