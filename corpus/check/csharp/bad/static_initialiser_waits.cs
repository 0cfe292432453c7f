// A static initialiser waits for a thread that needs the class to be initialised.
using System.Threading;

static class Settings {
    public static int Level;
    static Settings() {
        var thread = new Thread(() => { Level = 1; }); // expect: deadlock #1
        thread.Start();
        thread.Join(); // expect: deadlock #1
    }
}

class Program {
    static void Main() { Settings.Level = 2; }
}
