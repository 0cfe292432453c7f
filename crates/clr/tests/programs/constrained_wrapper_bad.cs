// A structure around a list is called through a type parameter.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;

struct Wrapped : ICollection<int> {
    public List<int> In;
    public int Count => In.Count;
    public bool IsReadOnly => false;
    public void Add(int i) {
        In.Add(i);    // expect: thread-safety-violation
    }
    public void Clear() => In = null;
    public bool Contains(int i) => false;
    public void CopyTo(int[] a, int n) { }
    public bool Remove(int i) => false;
    public IEnumerator<int> GetEnumerator() => In.GetEnumerator();
    IEnumerator IEnumerable.GetEnumerator() => In.GetEnumerator();
}

class Program {
    static void Put<C>(ref C to, int i) where C : ICollection<int> => to.Add(i);
    static Wrapped one = new Wrapped { In = new List<int>(1000) }, two = new Wrapped { In = one.In };
    static void First(int i) => Put(ref one, i);
    static void Second(int i) => Put(ref two, i);

    static void Main() {
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(2); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(2); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
