// As the twin in ok/, but the count is changed after the release of the lock.
using System.Threading;

public static class Program
{
    private static readonly object gate = new object();
    private static int[] all = new int[Library.Count()];
    private static int count;

    private static void Work(int first)
    {
        lock (gate)
        {
            all[first - 1] = 7;
        }
        count++; // expect: data-race #1
    }

    public static void Main()
    {
        var thread = new Thread(() => Work(0));
        thread.Start();
        Work(0);
        thread.Join();
    }
}
