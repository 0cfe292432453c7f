// expect: nothing
// Two threads sort, fill and search two parts of one array.
using System;
using System.Collections.Generic;
using System.Threading;

class Program {
    static readonly int[] array = new int[1000];

    static void Use(int from) {
        var found = new List<int>();
        for (int i = 0; i < 40; i++) {
            Array.Fill(array, i, from, 500);
            Array.Sort(array, from, 500);
            Array.Reverse(array, from, 500);
            Array.IndexOf(array, 1, from, 500);
            Array.Clear(array, from, 500);
            Array.BinarySearch(array, from, 500, 3);
            found.Add(Array.FindIndex(array, from, 500, x => x == 2));
            Thread.Sleep(2);
        }
    }

    static void Main() {
        Thread one = new Thread(() => Use(0)), two = new Thread(() => Use(500));
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}
