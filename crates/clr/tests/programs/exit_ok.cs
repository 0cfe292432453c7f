// expect: nothing
// The program exits while its other threads work.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static void Main() {
        for (int t = 0; t < 3; t++) new Thread(() => {
            var list = new List<int>();
            while (true) { list.Add(1); if (list.Count > 1000) list.Clear(); }
        }) { IsBackground = true }.Start();
        AppDomain.CurrentDomain.ProcessExit += (sender, e) => {
            var said = new List<string>();
            said.Add("done");
            Console.WriteLine(said[0]);
        };
        Thread.Sleep(50);
        Environment.Exit(0);
    }
}
