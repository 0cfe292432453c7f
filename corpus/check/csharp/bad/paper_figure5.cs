// Figure 5: a static constructor starts a task that writes what others read.
using System.Threading.Tasks;

public class GCManager {
    private static int delayMilliseconds = 0;
    static GCManager() {
        Task.Run(() => {
            delayMilliseconds = 5000; // expect: data-race #1
        });
    }
    public static bool TurnOff() {
        return delayMilliseconds <= 0; // expect: data-race #1
    }
}
class Program {
    static void Main() {
        GCManager.TurnOff();
        GCManager.TurnOff();
    }
}
