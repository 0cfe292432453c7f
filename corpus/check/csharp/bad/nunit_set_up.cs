// The set-up of a test starts a thread that the test does not wait for.
using System.Threading;
using NUnit.Framework;

[TestFixture]
public class QueueTests {
    private int length;
    private Thread thread;

    [SetUp]
    public void StartProducer() {
        thread = new Thread(() => { length++; }); // expect: data-race #1
        thread.Start();
    }

    [Test]
    public void IsFilled() {
        Assert.AreEqual(1, length); // expect: data-race read #1
    }

    [TearDown]
    public void Stop() { thread.Join(); }
}
