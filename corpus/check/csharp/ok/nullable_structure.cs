// As the twin in bad/, but the timer starts last.
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
    private int[] topics;
    private readonly TimeSpan life;

    public Bus(IConfiguration configuration)
    {
        life = LifeOf(configuration);
        topics = new int[4];
        timer = new Timer(_ => Collect(), null, 5000, 5000);
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
        int[] all = topics;
    }
}
