// What a rewritten program must not notice: contexts that are unloaded, static constructors that throw, a huge method, ref
// structures, stackalloc, pinned and unmanaged code, explicit tail positions, reflection, events of delegates.
using System; using System.Collections; using System.Collections.Generic; using System.IO; using System.Linq; using System.Reflection; using System.Reflection.Emit;
using System.Runtime.CompilerServices; using System.Runtime.Loader; using System.Text; using System.Threading; using System.Threading.Tasks;

ref struct Window { Span<int> items; public Window(Span<int> items) { this.items = items; } public int Put(List<int> to) { foreach (ref int i in items) { to.Add(i); i++; } return to.Count; } }
static class Broken { static readonly List<int> list = new List<int>(); static Broken() { list.Add(1); throw new InvalidOperationException("broken " + list.Count); } public static void Touch() => list.Add(2); }
class Context : AssemblyLoadContext { public Context() : base(true) { } }
struct Counter : IEnumerator<int> { int n; public int Current => n; object IEnumerator.Current => n; public bool MoveNext() => ++n < 4; public void Reset() => n = 0; public void Dispose() { } }
class Table : Dictionary<string, List<int>> { public new void Add(string k, List<int> v) => base.Add(k + "!", v); }
interface IBag<T> { void Add(T item); } class Bag<T> : IBag<T>, IEnumerable<T> { readonly List<T> l = new List<T>(); public void Add(T item) => l.Add(item); public IEnumerator<T> GetEnumerator() { foreach (var x in l) yield return x; } IEnumerator IEnumerable.GetEnumerator() => GetEnumerator(); }
class Odd {
  static int Sum<E>(E e) where E : IEnumerator<int> { int s = 0; while (e.MoveNext()) s += e.Current; return s; }
  static unsafe int Unmanaged(List<int> l) { int* p = stackalloc int[4]; for (int i = 0; i < 4; i++) p[i] = l[i % l.Count]; fixed (char* c = "abc") l.Add(c[1]); return p[3] + l[l.Count - 1]; }
  static async IAsyncEnumerable<int> Later(Queue<int> q) { while (q.Count > 0) { await Task.Yield(); yield return q.Dequeue(); } }
  static async ValueTask<int> Nested(int n, List<int> l) { if (n == 0) return l.Count; l.Add(await Task.FromResult(n)); return await Nested(n - 1, l).ConfigureAwait(false); }
  static event Action<int> Told;
  [MethodImpl(MethodImplOptions.NoInlining)] static string Unload() {
    var name = new AssemblyName("Made"); var made = AssemblyBuilder.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("m").DefineType("T", TypeAttributes.Public);
    var il = made.DefineMethod("Go", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(List<int>) }).GetILGenerator();
    il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4, 42); il.Emit(OpCodes.Callvirt, typeof(List<int>).GetMethod("Add")); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(List<int>).GetProperty("Count").GetMethod); il.Emit(OpCodes.Ret);
    var l = new List<int>(); return made.CreateType().GetMethod("Go").Invoke(null, new object[] { l }) + ":" + l[0];
  }
  [MethodImpl(MethodImplOptions.NoInlining)] static string InContext() {
    var c = new Context(); var a = c.LoadFromAssemblyPath(typeof(Odd).Assembly.Location); var t = a.GetType("Odd").GetMethod("Inner", BindingFlags.Static | BindingFlags.NonPublic);
    var s = (string)t.Invoke(null, null); c.Unload(); return s + (a != typeof(Odd).Assembly);
  }
  static string Inner() { var d = new Dictionary<string, int> { ["a"] = 1 }; foreach (var p in d) d = new Dictionary<string, int> { [p.Key + "b"] = p.Value + 1 }; IEnumerable<int> q = new List<int> { 1, 2, 3 }.Where(x => x > 1).OrderBy(x => -x); return d.First().Key + string.Join("", q); }
  static int Huge(List<int> l, int x) {
    int s = 0;
    l.Add(x + 0); if (l.Contains(0) && l[0] > 0) s += l.IndexOf(0); else l.Remove(0);
    l.Add(x + 1); if (l.Contains(1) && l[1] > 1) s += l.IndexOf(1); else l.Remove(1);
    l.Add(x + 2); if (l.Contains(2) && l[2] > 2) s += l.IndexOf(2); else l.Remove(2);
    l.Add(x + 3); if (l.Contains(3) && l[3] > 3) s += l.IndexOf(3); else l.Remove(3);
    l.Add(x + 4); if (l.Contains(4) && l[4] > 4) s += l.IndexOf(4); else l.Remove(4);
    l.Add(x + 5); if (l.Contains(5) && l[0] > 5) s += l.IndexOf(5); else l.Remove(5);
    l.Add(x + 6); if (l.Contains(6) && l[1] > 6) s += l.IndexOf(6); else l.Remove(6);
    l.Add(x + 7); if (l.Contains(7) && l[2] > 7) s += l.IndexOf(7); else l.Remove(7);
    l.Add(x + 8); if (l.Contains(8) && l[3] > 8) s += l.IndexOf(8); else l.Remove(8);
    l.Add(x + 9); if (l.Contains(9) && l[4] > 9) s += l.IndexOf(9); else l.Remove(9);
    l.Add(x + 10); if (l.Contains(10) && l[0] > 10) s += l.IndexOf(10); else l.Remove(10);
    l.Add(x + 11); if (l.Contains(11) && l[1] > 11) s += l.IndexOf(11); else l.Remove(11);
    l.Add(x + 12); if (l.Contains(12) && l[2] > 12) s += l.IndexOf(12); else l.Remove(12);
    l.Add(x + 13); if (l.Contains(13) && l[3] > 13) s += l.IndexOf(13); else l.Remove(13);
    l.Add(x + 14); if (l.Contains(14) && l[4] > 14) s += l.IndexOf(14); else l.Remove(14);
    l.Add(x + 15); if (l.Contains(15) && l[0] > 15) s += l.IndexOf(15); else l.Remove(15);
    l.Add(x + 16); if (l.Contains(16) && l[1] > 16) s += l.IndexOf(16); else l.Remove(16);
    l.Add(x + 17); if (l.Contains(17) && l[2] > 17) s += l.IndexOf(17); else l.Remove(17);
    l.Add(x + 18); if (l.Contains(18) && l[3] > 18) s += l.IndexOf(18); else l.Remove(18);
    l.Add(x + 19); if (l.Contains(19) && l[4] > 19) s += l.IndexOf(19); else l.Remove(19);
    l.Add(x + 20); if (l.Contains(20) && l[0] > 20) s += l.IndexOf(20); else l.Remove(20);
    l.Add(x + 21); if (l.Contains(21) && l[1] > 21) s += l.IndexOf(21); else l.Remove(21);
    l.Add(x + 22); if (l.Contains(22) && l[2] > 22) s += l.IndexOf(22); else l.Remove(22);
    l.Add(x + 23); if (l.Contains(23) && l[3] > 23) s += l.IndexOf(23); else l.Remove(23);
    l.Add(x + 24); if (l.Contains(24) && l[4] > 24) s += l.IndexOf(24); else l.Remove(24);
    l.Add(x + 25); if (l.Contains(25) && l[0] > 25) s += l.IndexOf(25); else l.Remove(25);
    l.Add(x + 26); if (l.Contains(26) && l[1] > 26) s += l.IndexOf(26); else l.Remove(26);
    l.Add(x + 27); if (l.Contains(27) && l[2] > 27) s += l.IndexOf(27); else l.Remove(27);
    l.Add(x + 28); if (l.Contains(28) && l[3] > 28) s += l.IndexOf(28); else l.Remove(28);
    l.Add(x + 29); if (l.Contains(29) && l[4] > 29) s += l.IndexOf(29); else l.Remove(29);
    l.Add(x + 30); if (l.Contains(30) && l[0] > 30) s += l.IndexOf(30); else l.Remove(30);
    l.Add(x + 31); if (l.Contains(31) && l[1] > 31) s += l.IndexOf(31); else l.Remove(31);
    l.Add(x + 32); if (l.Contains(32) && l[2] > 32) s += l.IndexOf(32); else l.Remove(32);
    l.Add(x + 33); if (l.Contains(33) && l[3] > 33) s += l.IndexOf(33); else l.Remove(33);
    l.Add(x + 34); if (l.Contains(34) && l[4] > 34) s += l.IndexOf(34); else l.Remove(34);
    l.Add(x + 35); if (l.Contains(35) && l[0] > 35) s += l.IndexOf(35); else l.Remove(35);
    l.Add(x + 36); if (l.Contains(36) && l[1] > 36) s += l.IndexOf(36); else l.Remove(36);
    l.Add(x + 37); if (l.Contains(37) && l[2] > 37) s += l.IndexOf(37); else l.Remove(37);
    l.Add(x + 38); if (l.Contains(38) && l[3] > 38) s += l.IndexOf(38); else l.Remove(38);
    l.Add(x + 39); if (l.Contains(39) && l[4] > 39) s += l.IndexOf(39); else l.Remove(39);
    l.Add(x + 40); if (l.Contains(40) && l[0] > 40) s += l.IndexOf(40); else l.Remove(40);
    l.Add(x + 41); if (l.Contains(41) && l[1] > 41) s += l.IndexOf(41); else l.Remove(41);
    l.Add(x + 42); if (l.Contains(42) && l[2] > 42) s += l.IndexOf(42); else l.Remove(42);
    l.Add(x + 43); if (l.Contains(43) && l[3] > 43) s += l.IndexOf(43); else l.Remove(43);
    l.Add(x + 44); if (l.Contains(44) && l[4] > 44) s += l.IndexOf(44); else l.Remove(44);
    l.Add(x + 45); if (l.Contains(45) && l[0] > 45) s += l.IndexOf(45); else l.Remove(45);
    l.Add(x + 46); if (l.Contains(46) && l[1] > 46) s += l.IndexOf(46); else l.Remove(46);
    l.Add(x + 47); if (l.Contains(47) && l[2] > 47) s += l.IndexOf(47); else l.Remove(47);
    l.Add(x + 48); if (l.Contains(48) && l[3] > 48) s += l.IndexOf(48); else l.Remove(48);
    l.Add(x + 49); if (l.Contains(49) && l[4] > 49) s += l.IndexOf(49); else l.Remove(49);
    l.Add(x + 50); if (l.Contains(50) && l[0] > 50) s += l.IndexOf(50); else l.Remove(50);
    l.Add(x + 51); if (l.Contains(51) && l[1] > 51) s += l.IndexOf(51); else l.Remove(51);
    l.Add(x + 52); if (l.Contains(52) && l[2] > 52) s += l.IndexOf(52); else l.Remove(52);
    l.Add(x + 53); if (l.Contains(53) && l[3] > 53) s += l.IndexOf(53); else l.Remove(53);
    l.Add(x + 54); if (l.Contains(54) && l[4] > 54) s += l.IndexOf(54); else l.Remove(54);
    l.Add(x + 55); if (l.Contains(55) && l[0] > 55) s += l.IndexOf(55); else l.Remove(55);
    l.Add(x + 56); if (l.Contains(56) && l[1] > 56) s += l.IndexOf(56); else l.Remove(56);
    l.Add(x + 57); if (l.Contains(57) && l[2] > 57) s += l.IndexOf(57); else l.Remove(57);
    l.Add(x + 58); if (l.Contains(58) && l[3] > 58) s += l.IndexOf(58); else l.Remove(58);
    l.Add(x + 59); if (l.Contains(59) && l[4] > 59) s += l.IndexOf(59); else l.Remove(59);
    return s + l.Count;
  }
  static async Task Main() {
    var l = new List<int>(); Say(Through(l)); Say(Unmanaged(l));
    await More(l);
  }
  static int Through(List<int> l) { Span<int> some = stackalloc int[] { 1, 2, 3 }; return new Window(some).Put(l) + some[0]; }
  static void Say(object o) => Console.WriteLine(o);
  static async Task More(List<int> l) {
    for (int i = 0; i < 2; i++) try { Broken.Touch(); } catch (TypeInitializationException e) { Say(e.InnerException.Message); }
    Say(Sum(new Counter())); Say(Sum(new List<int> { 1, 2 }.GetEnumerator())); Say(Sum<IEnumerator<int>>(new List<int> { 3, 4 }.GetEnumerator()));
    for (int i = 0; i < 3; i++) { Say(Unload()); Say(InContext()); GC.Collect(); GC.WaitForPendingFinalizers(); }
    var t = new Table(); t.Add("k", l); ((IDictionary<string, List<int>>)t).Add("j", l); Say(string.Join(",", t.Keys.OrderBy(k => k)));
    IBag<int> b = new Bag<int>(); b.Add(1); b.Add(2); Say(((IEnumerable<int>)b).Sum()); typeof(List<int>).GetMethod("Add").Invoke(l, new object[] { 9 }); Say(l.Count);
    var set = new HashSet<int>(); var told = new List<int>(); Told += told.Add; Told += told.Add; Told -= told.Add; Told(5); Say(told.Count); Func<int, bool> add = set.Add; Say(add(1) + "" + add(1)); Say(new[] { 3, 4 }.Count(set.Add));
    Action<int> a1 = told.Add, a2 = told.Add; Say(a1 == a2); List<string> none = null; try { Action<string> bad = none.Add; bad("x"); } catch (Exception e) { Say(e is ArgumentException || e is NullReferenceException); }
    int n = 0; await foreach (int i in Later(new Queue<int>(new[] { 1, 2, 3 }))) n += i; Say(n); Say(await Nested(5, new List<int>()));
    int[] array = { 3, 1, 2 }; Array.Sort(array); Array.Resize(ref array, 5); Array.Reverse(array); Say(string.Join(",", array)); int[] nothing = null; Array.Resize(ref nothing, 2); Say(nothing.Length);
    Say(Huge(l, 3)); var q = from x in l where x > 1 group x by x % 2 into g orderby g.Key select g.Key + ":" + g.Count(); Say(string.Join(";", q));
    var r = new Random(7); Say(r.Next(100) + r.NextDouble()); var sw = new StringWriter(); sw.Write("a{0}b", 1); sw.WriteLine(2.5m); Say(sw.ToString().Trim()); var ms = new MemoryStream(); ms.Write(new byte[] { 1, 2 }); ms.WriteByte(3); ms.Position = 0; Say(ms.ReadByte() + ms.ToArray().Length);
    var sb = new StringBuilder(); foreach (var (k, v) in new Dictionary<int, string> { [1] = "x" }) sb.Append(k).Append(v); Say(sb); object boxed = sb; Say(boxed.ToString() + 5.ToString() + new Counter().ToString());
    try { foreach (int i in l) l.Add(i); } catch (InvalidOperationException) { Say("modified"); } var ht = Hashtable.Synchronized(new Hashtable()); ht["x"] = 1; foreach (DictionaryEntry e in ht) Say(e.Key); IList il = new ArrayList { 1 }; il.Add(2); Say(il.Contains(2));
    var thread = new Thread(() => { lock (l) l.Add(1); }); thread.Start(); thread.Join(); Say(l.Count); throw_later();
  }
  static void throw_later() { try { new Dictionary<string, int>().Add(null, 1); } catch (ArgumentNullException e) when (e.StackTrace.Contains("throw_later")) { Say("thrown " + e.ParamName); } }
}
