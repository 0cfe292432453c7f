// The test waits for the thread that its set-up has started.
using System.Threading;
using NUnit.Framework;

[TestFixture]
public class QueueTests {
    private int length;
    private Thread thread;

    [SetUp]
    public void StartProducer() {
        thread = new Thread(() => { length++; });
        thread.Start();
    }

    [Test]
    public void IsFilled() {
        thread.Join();
        Assert.AreEqual(1, length);
    }
}
