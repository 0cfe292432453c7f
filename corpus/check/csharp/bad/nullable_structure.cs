// A structure that may be missing is compared with null. The operators of the structure do not see
// the null, so the code after the comparison runs.
using System;
using System.Threading;

public interface IConfiguration
{
    TimeSpan? KeepAlive { get; }
    TimeSpan Disconnect { get; }
}

public class Bus
{
    private readonly Timer timer;
    private int[] topics; // the constructor sets it after the timer was started
    private readonly TimeSpan life;

    public Bus(IConfiguration configuration)
    {
        timer = new Timer(_ => Collect(), null, 5000, 5000);
        life = LifeOf(configuration);
        topics = new int[4]; // expect: data-race write #1
    }

    private static TimeSpan LifeOf(IConfiguration configuration)
    {
        if (configuration.KeepAlive != null)
        {
            return configuration.Disconnect + configuration.KeepAlive.Value;
        }
        return configuration.Disconnect;
    }

    private void Collect()
    {
        int[] all = topics; // expect: data-race read #1
    }
}
