// expect: nothing
// Spans, references and a ref struct beside calls on lists.
using System;
using System.Collections.Generic;

class Program {
    ref struct Pair {
        public Span<int> A;
        public List<int> L;
        public ref int Last(int i) {
            L.Add(A[i]);
            return ref A[i];
        }
    }
    static ref int Find(int[] all, List<int> list, int i) { list.Add(i); return ref all[i]; }
    static void Typed(List<int> list, int x) {
        TypedReference r = __makeref(x);
        list.Add(__refvalue(r, int));
    }
    static int Sum(ReadOnlySpan<int> s, List<int> l) {
        int n = 0;
        foreach (int i in s) {
            l.Insert(0, i);
            n += l[0];
        }
        return n;
    }
    static unsafe void Main() {
        var list = new List<int>();
        Span<int> some = stackalloc int[8];
        for (int i = 0; i < 8; i++) some[i] = i;
        var pair = new Pair { A = some, L = list };
        pair.Last(3) += 10;
        int[] all = { 1, 2, 3 };
        Find(all, list, 1) = Find(all, list, 2) + Sum(some, list);
        int x = 5;
        Typed(list, x);
        list.AddRange(new ArraySegment<int>(all));
        int* p = &x;
        list[list.Count > 2 ? 1 : 0] = *p + some[3];
        string got = string.Join(",", list) + all[1];
        Console.WriteLine(got == "7,18,5,4,13,2,1,0,3,1,2,5,1,41,341" ? "done" : got);
    }
}
