// Figure 7: a timer may tick before its constructor has stored it.
using System.Threading;

class TimeoutContinuation {
    private Timer timeoutTimer;
    private readonly object gate = new object();
    public TimeoutContinuation() {
         {
            timeoutTimer = new Timer(TimerElapsed, null, 10, -1); // expect: data-race #1
        }
    }
    private void TimerElapsed(object state) { StopTimer(); }
    private void StopTimer() {
        lock (gate) {
            if (timeoutTimer != null) { // expect: data-race #1
                timeoutTimer.Dispose(); // expect: data-race #1
                timeoutTimer = null; // expect: data-race #1
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
