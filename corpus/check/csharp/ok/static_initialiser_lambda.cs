// What a static initialiser calls itself does not wait for it.
using System;
using System.Threading;

static class Settings {
    public static int Level;
    static Settings() {
        Action set = () => { Level = 1; };
        set();
        var thread = new Thread(() => { Level = 2; });
        thread.Start();
    }
    public static int Read() { return 3; }
}

class Program {
    static void Main() { Settings.Read(); }
}
