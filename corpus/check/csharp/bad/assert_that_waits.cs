// A constraint that says nothing of the wait does not make a test wait.
using System.Threading;
using NUnit.Framework;

public class Tests {
    [Test]
    public void Stops() {
        string error = null;
        var stopped = new ManualResetEventSlim();
        new Thread(() => { error = "none"; stopped.Set(); }).Start(); // expect: data-race write #1
        Assert.That(stopped.IsSet, Is.Not.EqualTo(2));
        Assert.That(error, Is.Not.Null); // expect: data-race read #1
    }
}
