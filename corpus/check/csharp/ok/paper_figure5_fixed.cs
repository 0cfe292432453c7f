// As figure 5, but the field is volatile.
using System.Threading.Tasks;

public class GCManager {
    private static volatile int delayMilliseconds = 0;
    static GCManager() {
        Task.Run(() => {
            delayMilliseconds = 5000;
        });
    }
    public static bool TurnOff() {
        return delayMilliseconds <= 0;
    }
}
class Program {
    static void Main() {
        GCManager.TurnOff();
        GCManager.TurnOff();
    }
}
