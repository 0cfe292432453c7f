// Its caller awaits it.
using System.Threading.Tasks;

class Program {
    static int shared;
    static async Task Work() {
        await Task.Run(() => { });
        shared = 1;
    }
    static async Task Main() {
        await Work();
        shared = 2;
        
    }
}
