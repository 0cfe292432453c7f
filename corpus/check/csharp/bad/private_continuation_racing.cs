// The constructor goes on with what its continuation uses.
using System.Threading.Tasks;

public class Player {
    private int attempts = 3;
    private int next;

    public Player() {
        Reconnect();
        next = 0; // expect: data-race #1
    }

    private void Reconnect() {
        Task.Run(() => { }).ContinueWith(t => { next++; }); // expect: data-race #1
    }
}
