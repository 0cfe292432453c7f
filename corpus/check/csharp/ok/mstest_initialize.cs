// The class's set-up waits for what it starts.
using System.Threading.Tasks;
using Microsoft.VisualStudio.TestTools.UnitTesting;

[TestClass]
public class CacheTests {
    private static int loaded;
    private int own;

    [ClassInitialize]
    public static void Load(TestContext context) {
        Task.Run(() => { loaded = 1; }).Wait();
    }

    [TestInitialize]
    public void Prepare() { own = loaded; }

    [TestMethod]
    public void IsLoaded() {
        Assert.AreEqual(1, loaded);
        Assert.AreEqual(1, own);
    }
}
