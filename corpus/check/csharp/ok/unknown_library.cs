// Nothing is said about what a library that nobody knows does.
using System;

class Program {
    static void Main() {
        var text = System.IO.File.ReadAllText("a.txt");
        var done = false;
        System.Diagnostics.Process.Start("x").Exited += (s, e) => { done = true; };
        if (text.Length > 3) Console.WriteLine(done);
    }
}
