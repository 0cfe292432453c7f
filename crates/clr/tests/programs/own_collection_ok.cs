// expect: nothing
// A class of ours takes the lock inside.
using System;
using System.Threading;

class Program {
    class Safe : System.Collections.ObjectModel.Collection<int> {
        readonly object guard = new object();
        protected override void InsertItem(int at, int x) {
            lock (guard) base.InsertItem(Math.Min(at, Count), x);
        }
        protected override void ClearItems() {
            lock (guard) base.ClearItems();
        }
    }
    static readonly Safe list = new Safe();

    static void Work() {
        for (int i = 0; i < 40; i++) {
            list.Add(i);
            if (i % 9 == 0) list.Clear();
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(Work), two = new Thread(Work);
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
