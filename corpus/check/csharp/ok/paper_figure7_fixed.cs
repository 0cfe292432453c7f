// As figure 7, with the lock in the constructor too.
using System.Threading;

class TimeoutContinuation {
    private Timer timeoutTimer;
    private readonly object gate = new object();
    public TimeoutContinuation() {
        lock (gate) {
            timeoutTimer = new Timer(TimerElapsed, null, 10, -1);
        }
    }
    private void TimerElapsed(object state) { StopTimer(); }
    private void StopTimer() {
        lock (gate) {
            if (timeoutTimer != null) {
                timeoutTimer.Dispose();
                timeoutTimer = null;
            }
        }
    }
}
class Program {
    static void Main() {
        new TimeoutContinuation();
        Thread.Sleep(100);
    }
}
