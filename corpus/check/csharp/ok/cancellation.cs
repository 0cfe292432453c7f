// A token that is cancelled orders what follows.
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var source = new CancellationTokenSource();
        var token = source.Token;
        int data = 1;
        data = 2;
        var t = Task.Run(() => {
            while (!token.IsCancellationRequested) Thread.Sleep(1);
            return data;
        });
        source.Cancel();
        t.Wait();
    }
}
