// An array has a length that only the library knows, and an index lies before its first element.
// What is stored there is in no other place of the array.
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
            count++;
        }
    }

    public static void Main()
    {
        var thread = new Thread(() => Work(0));
        thread.Start();
        Work(0);
        thread.Join();
    }
}
