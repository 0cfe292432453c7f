// A private method that the constructor calls once, and then only its own continuation.
using System.Threading.Tasks;

public class Player {
    private int attempts = 3;
    private int next;

    public Player() { Reconnect(); }

    private void Reconnect() {
        next = attempts * 10;
        Task.Run(() => { }).ContinueWith(t => {
            attempts--;
            if (attempts > 0 && next > 0) Reconnect();
        });
    }
}
