// expect: nothing
// Several threads may read a Hashtable while one writes to it.
using System;
using System.Collections;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        var table = new Hashtable();
        object last = null;
        var writer = Task.Run(() => { for (int i = 0; i < 40; i++) { table[i] = i; Thread.Sleep(2); } });
        var reader = Task.Run(() => { for (int i = 0; i < 40; i++) { last = table[i]; Thread.Sleep(2); } });
        Task.WaitAll(writer, reader);
        Console.WriteLine("done");
    }
}
