// Assertions of the usual frameworks. After an assertion its condition holds, or it has thrown.
// A loop that polls until an assertion holds waits for other threads. Different objects may be
// equal, so only numbers are compared.
public class XunitException : Exception { public XunitException() { } }
public class AssertionFailedException : Exception { public AssertionFailedException() { } }
public class AssertionException : Exception { public AssertionException() { } }
public class AssertFailedException : Exception { public AssertFailedException() { } }
public static class Assert {
    // A test passes without threads. If it fails here, a library that it uses is unknown.
    public static void __Fail() { if (!__raddle.IsAlone()) throw new XunitException(); }
    public static void __Same(object a, object b) { if (!__raddle.IsObject(a) && !__raddle.IsObject(b) && a != b) __Fail(); }
    public static void __Other(object a, object b) { if (a == b) __Fail(); }
    public static void Equal(object a, object b) { __Same(a, b); }
    public static void AreEqual(object a, object b) { __Same(a, b); }
    public static void AreEqual(object a, object b, object c) { __Same(a, b); }
    public static void NotEqual(object a, object b) { __Other(a, b); }
    public static void AreNotEqual(object a, object b) { __Other(a, b); }
    public static void True(bool x) { if (!x) __Fail(); }
    public static void True(bool x, string m) { if (!x) __Fail(); }
    public static void IsTrue(bool x) { if (!x) __Fail(); }
    public static void IsTrue(bool x, string m) { if (!x) __Fail(); }
    public static void False(bool x) { if (x) __Fail(); }
    public static void False(bool x, string m) { if (x) __Fail(); }
    public static void IsFalse(bool x) { if (x) __Fail(); }
    public static void IsFalse(bool x, string m) { if (x) __Fail(); }
    public static void Null(object x) { if (x != null) __Fail(); }
    public static void IsNull(object x) { if (x != null) __Fail(); }
    public static void NotNull(object x) { if (x == null) __Fail(); }
    public static void IsNotNull(object x) { if (x == null) __Fail(); }
    public static void That(bool x) { if (!x) __Fail(); }
    public static void That(object x, object c) { if (c is __Constraint) { __Constraint k = (__Constraint)c; k.__Check(x); } }
    public static void That(object x, object c, object m) { That(x, c); }
    public static void That(object x, object c, object m, object n) { That(x, c); }
    public static void Fail() { __Fail(); }
    public static void Fail(string m) { __Fail(); }
    // A failing assertion inside is not the expected exception.
    public static object Throws(Delegate f) { try { f(); } catch (XunitException e) { throw; } catch (Exception e) { return e; } __Fail(); return null; }
    public static object Catch(Delegate f) { try { f(); } catch (Exception e) { return e; } __Fail(); return null; }
    public static object ThrowsException(Delegate f) { try { f(); } catch (Exception e) { return e; } __Fail(); return null; }
    public static void DoesNotThrow(Delegate f) { f(); }
}
// NUnit: `Assert.That(x, Is.True)`.
public class __Constraint {
    int kind; object value;
    public __Constraint(int k, object v) { kind = k; value = v; }
    public void __Check(object x) {
        if (kind == 1) Assert.True(x);
        if (kind == 2) Assert.False(x);
        if (kind == 3) Assert.Null(x);
        if (kind == 4) Assert.NotNull(x);
        if (kind == 5) Assert.__Same(value, x);
    }
}
public class __Not {
    public __Constraint True => new __Constraint(2, null);
    public __Constraint False => new __Constraint(1, null);
    public __Constraint Null => new __Constraint(4, null);
}
public static class Is {
    public static __Constraint True => new __Constraint(1, null);
    public static __Constraint False => new __Constraint(2, null);
    public static __Constraint Null => new __Constraint(3, null);
    public static __Constraint EqualTo(object v) { return new __Constraint(5, v); }
    public static __Not Not => new __Not();
}
public class __Should {
    object value;
    public __Should(object v) { value = v; }
    public __Should Be(object x) { Assert.__Same(value, x); return this; }
    public __Should BeTrue() { Assert.True(value); return this; }
    public __Should BeFalse() { Assert.False(value); return this; }
    public __Should BeNull() { Assert.Null(value); return this; }
    public __Should NotBeNull() { Assert.NotNull(value); return this; }
    public void Throw() { Assert.Throws(value); }
    public void NotThrow() { Delegate f = value; f(); }
}
public static class AssertionExtensions {
    public static __Should Should(this object x) { return new __Should(x); }
}
