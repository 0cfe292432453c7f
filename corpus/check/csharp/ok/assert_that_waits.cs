// A test that NUnit's constraints let go on has waited.
using System.Threading;
using NUnit.Framework;

public class Tests {
    [Test]
    public void Stops() {
        string error = null;
        var stopped = new ManualResetEventSlim();
        new Thread(() => { error = "none"; stopped.Set(); }).Start();
        Assert.That(stopped.Wait(3000), Is.True, "not stopped");
        Assert.That(error, Is.Not.Null);
    }
}
