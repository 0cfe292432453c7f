// expect: nothing
// One thread adds rows while another looks for some, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Data;

class Program {
    static readonly object gate = new object();
    static readonly DataTable table = new DataTable();
    static int found;

    static void First(int i) {
        lock (gate) {
            table.Rows.Add(i);
        }
    }

    static void Second(int i) {
        lock (gate) {
            found = table.Rows.IndexOf(null);
        }
    }

    static void Main() {
        table.Columns.Add("n", typeof(int));
        var one = Task.Run(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = Task.Run(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        Task.WaitAll(one, two);
        Console.WriteLine("done");
    }
}
