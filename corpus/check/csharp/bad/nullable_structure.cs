// As the twin in ok/, but a property says that the structure is missing, and there is no lock.
using System;
using System.Threading;

public class Program
{
    private static TimeSpan? timeout;
    private static readonly object gate = new object();
    private static int count;

    private static void Work()
    {
        lock (gate) count++; // expect: data-race #1
    }

    public static void Main()
    {
        var thread = new Thread(Work);
        thread.Start();
        if (!timeout.HasValue)
        {
            count++; // expect: data-race #1
        }
        thread.Join();
    }
}
