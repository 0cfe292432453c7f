// Two structures that may be missing are compared with null: one that nobody has assigned, and one
// of the program's own that is assigned its default. Both are missing, so each access is locked.
using System;
using System.Threading;

public struct Limit
{
    public int Value;
    public static bool operator ==(Limit a, Limit b) => a.Value == b.Value;
    public static bool operator !=(Limit a, Limit b) => a.Value != b.Value;
}

public class Program
{
    private static TimeSpan? timeout;
    private static Limit? limit;
    private static readonly object gate = new object();
    private static int count;
    private static int sum;

    private static void Wait()
    {
        if (timeout == null)
        {
            lock (gate) count++;
        }
        else
        {
            count++;
        }
    }

    private static void Add()
    {
        if (limit == null)
        {
            lock (gate) sum++;
        }
        else
        {
            sum++;
        }
    }

    private static void Work()
    {
        lock (gate) count++;
        lock (gate) sum++;
    }

    public static void Main()
    {
        limit = default;
        var thread = new Thread(Work);
        var waits = new Thread(Wait);
        var adds = new Thread(Add);
        thread.Start();
        waits.Start();
        adds.Start();
        thread.Join();
        waits.Join();
        adds.Join();
    }
}
