// Table 3, Finalizer Race: the finalizer counts down what the main thread counts up.
using System;

class Resource {
    public static int Alive;
    public Resource() { Alive++; } // expect: data-race #1
    ~Resource() { Alive--; } // expect: data-race #1
}
class Program {
    static void Use() { new Resource(); }
    static void Main() {
        for (int i = 0; i < 20; i++) {
            Use();
            GC.Collect();
        }
    }
}
