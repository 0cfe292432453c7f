// expect: nothing
// A task ends after what is attached to it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static void Main() {
        for (int round = 0; round < 10; round++) {
            var list = new List<int>();
            var t = Task.Factory.StartNew(() => {
                list.Add(0);
                Task.Factory.StartNew(() => {
                    Thread.Sleep(2);
                    list.Add(1);
                }, TaskCreationOptions.AttachedToParent);
            });
            t.Wait();
            list.Add(2);
            if (list.Count != 3) Console.WriteLine("lost");
        }
        Console.WriteLine("done");
    }
}
