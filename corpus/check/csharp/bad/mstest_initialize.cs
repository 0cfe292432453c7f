// What the class's set-up started goes on during the test.
using System.Threading.Tasks;
using Microsoft.VisualStudio.TestTools.UnitTesting;

[TestClass]
public class CacheTests {
    private static int loaded;

    [ClassInitialize]
    public static void Load(TestContext context) {
        Task.Run(() => { loaded = 1; }); // expect: data-race write #1
    }

    [TestMethod]
    public void IsLoaded() {
        Assert.AreEqual(1, loaded); // expect: data-race read #1
    }
}
