// A library without a Main: its constructor refuses most of what it may be given.
using System;
using System.Threading.Tasks;

public class Sampler {
    private readonly object gate = new object();
    private readonly string name;
    private readonly int period;
    private int samples;

    public Sampler(string name, int period, TimeSpan limit) {
        if (string.IsNullOrEmpty(name)) throw new ArgumentNullException("name");
        if (period < 10) throw new ArgumentOutOfRangeException("period");
        if (limit < TimeSpan.Zero) throw new ArgumentOutOfRangeException("limit");
        this.name = name;
        this.period = period;
    }

    public int Start() {
        if (name.Length > 1000) throw new InvalidOperationException();
        Task.Run(() => { lock (gate) samples += period; });
        lock (gate) return samples;
    }
}
