// An asynchronous method goes on while its caller does.
using System.Threading.Tasks;

class Program {
    static int shared;
    static async Task Work() {
        await Task.Run(() => { });
        shared = 1; // expect: data-race #1
    }
    static async Task Main() {
        var work = Work();
        shared = 2; // expect: data-race #1
        await work;
    }
}
