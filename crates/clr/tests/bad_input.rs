//! Assemblies that are not as a compiler leaves them: the program does what it does without raddle,
//! and what cannot be watched is recorded.

#[expect(dead_code, reason = "other tests use more of it")]
mod support;

use std::path::{Path, PathBuf};

use raddle_clr::record::ClrRecord;
use support::{Run, Sdk, Way};

/// A program, and the folder that it is in.
struct Made {
    sdk: Sdk,
    folder: tempfile::TempDir,
}

impl Made {
    fn new(text: &str) -> Option<Made> {
        let made = Made { sdk: Sdk::find()?, folder: tempfile::tempdir().unwrap() };
        let source = made.folder.path().join("program.cs");
        std::fs::write(&source, text).unwrap();
        made.sdk.compile(&[source], &made.program(), &[]);
        Some(made)
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program.dll")
    }

    fn change(&self, change: impl FnOnce(&mut [u8])) {
        let mut bytes = std::fs::read(self.program()).unwrap();
        change(&mut bytes);
        std::fs::write(self.program(), bytes).unwrap();
    }

    /// Runs it without raddle and with it, which must look the same.
    fn run(&self) -> Run {
        let plain = self.sdk.dotnet().arg(self.program()).output().unwrap();
        let session = self.folder.path().join("session");
        let run = self.sdk.run(&[path(&self.program())], &session, &Way::default());
        let plain_said = String::from_utf8_lossy(&plain.stdout).into_owned();
        assert_eq!(
            (run.said(), run.output.status.code()),
            (plain_said, plain.status.code()),
            "{:?}",
            run.output
        );
        run
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn position(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).expect("it is in the file")
}

/// Obfuscators give names that no compiler would.
#[test]
fn names_may_be_anything() {
    const PROGRAM: &str = "
        using System; using System.Collections.Generic;
        class Obfuscated1 {
            static List<int> Obfuscated2(List<int> list) { list.Add(1); return list; }
            static int Obfuscated3(List<int> list) { Func<int> f = () => { list.Add(2); return list.Count; }; return f(); }
            static void Main() { Console.WriteLine(Obfuscated3(Obfuscated2(new List<int>()))); }
        }";
    let Some(made) = Made::new(PROGRAM) else { return };
    let names: [&[u8; 11]; 3] =
        [b"\x01\n\"\\\x1b[31m.x", b"<>/`1{}~: ,", b"\xc3\x28\xff\xfe\x80\x80\x80\x80\x80\x80\x80"];
    made.change(|bytes| {
        for (name, new) in ["Obfuscated1", "Obfuscated2", "Obfuscated3"].iter().zip(names) {
            let at = position(bytes, format!("\0{name}\0").as_bytes()) + 1;
            bytes[at..at + new.len()].copy_from_slice(new);
        }
    });
    let run = made.run();
    assert!(run.output.status.success() && run.sites() == 2, "{:?}", run.records);
}

/// On Linux the runtime does not load assemblies with native code in them.
#[test]
fn mixed_mode_is_refused_by_the_runtime() {
    const PROGRAM: &str =
        "class Program { static void Main() { new System.Collections.Generic.List<int>().Add(1); } }";
    const HEADER: [u8; 8] = [0x48, 0, 0, 0, 2, 0, 5, 0];
    const FLAGS: usize = 16;
    let Some(made) = Made::new(PROGRAM) else { return };
    // No longer "IL only".
    made.change(|bytes| bytes[position(bytes, &HEADER) + FLAGS] &= !1);
    let run = made.run();
    println!("{:?}", run.output);
    assert!(!run.output.status.success());
}

#[test]
fn a_method_may_be_huge() {
    const CALLS: usize = 4_000;
    let calls: String = (0..CALLS).map(|n| format!("if (Program.last < {n}) list.Add({n});\n")).collect();
    let program = format!(
        "using System; using System.Collections.Generic;
        class Program {{
            static int last = 3;
            static readonly List<int> kept = new List<int> {{ 1 }};
            static void Fill(List<int> list) {{ {calls} }}
            static void Main() {{ Fill(kept); Console.WriteLine(kept.Count); }}
        }}"
    );
    let Some(made) = Made::new(&program) else { return };
    let run = made.run();
    assert_eq!((run.said(), run.sites() > CALLS), (format!("{}\n", CALLS - 3), true));
}

/// A method whose code is wrong fails as it does without raddle, and what follows goes on.
#[test]
fn wrong_code_fails_as_it_did() {
    const PROGRAM: &str = "
        using System; using System.Collections.Generic;
        class Program {
            static int Wrong(List<int> list) { list.Add(0x11223344); return list.Count; }
            static void Main() {
                try { Console.WriteLine(Wrong(new List<int>())); }
                catch (Exception e) { Console.WriteLine(e.GetType().Name); }
                Console.WriteLine(new List<int> { 1 }.Count);
            }
        }";
    const CONSTANT: [u8; 5] = [0x20, 0x44, 0x33, 0x22, 0x11];
    // An unknown code, a branch to nowhere, a call of what is not there, a switch without an end;
    // and whether the code can be decoded.
    let wrong: [(&[u8], bool); 4] = [
        (&[0xA6], false),
        (&[0x38, 0xFF, 0, 0, 0], false),
        (&[0x28, 1, 0, 0, 0x70], true),
        (&[0x45, 0xFF, 0xFF, 0xFF], false),
    ];
    let Some(made) = Made::new(PROGRAM) else { return };
    let right = std::fs::read(made.program()).unwrap();
    let at = position(&right, &CONSTANT);
    for (code, decodable) in wrong {
        std::fs::write(made.program(), &right).unwrap();
        made.change(|bytes| bytes[at..at + code.len()].copy_from_slice(code));
        let run = made.run();
        assert!(run.said().ends_with("Exception\n1\n"), "{code:x?}: {:?}", run.output);
        let is_told = |r: &ClrRecord| matches!(r, ClrRecord::Unseen { what, why } if what == "Program.Wrong" && why.contains("IL cannot be decoded"));
        assert_eq!(run.records.iter().any(is_told), !decodable, "{code:x?}: {:?}", run.records);
    }
}

/// A static constructor that throws: each use of its class fails, and what it did before was done.
#[test]
fn static_constructors_may_throw() {
    const PROGRAM: &str = "
        using System; using System.Collections.Generic; using System.Threading.Tasks;
        static class Broken {
            public static readonly List<int> Items = Program.Kept;
            static Broken() { Items.Add(1); throw new InvalidOperationException(\"broken\"); }
        }
        static class Program {
            public static readonly List<int> Kept = new List<int>();
            static string Use() {
                try { Broken.Items.Add(2); return \"used\"; } catch (TypeInitializationException e) { return e.InnerException.Message; }
            }
            static void Main() {
                Console.WriteLine(Use() + Task.Run(Use).Result + Use());
                Kept.Add(3);
                Console.WriteLine(string.Join(\",\", Kept));
            }
        }";
    let Some(made) = Made::new(PROGRAM) else { return };
    let run = made.run();
    assert_eq!(run.said(), "brokenbrokenbroken\n1,3\n");
}

/// Assemblies that are loaded into a context of their own, used there and unloaded, again and
/// again.
#[test]
fn contexts_may_come_and_go() {
    const PROGRAM: &str = "
        using System; using System.Collections.Generic; using System.Reflection; using System.Runtime.CompilerServices; using System.Runtime.Loader;
        using System.Threading.Tasks;
        static class Names { public static readonly List<int> All = new List<int>(); static Names() { All.Add(1); } }
        class Program {
            public static int Inside() {
                lock (Names.All) Names.All.Add(2);
                return Task.Run(() => { lock (Names.All) return Names.All.Count; }).Result;
            }
            [MethodImpl(MethodImplOptions.NoInlining)]
            static WeakReference Round(ref int sum) {
                var context = new AssemblyLoadContext(null, isCollectible: true);
                Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
                sum += (int)again.GetType(\"Program\").GetMethod(\"Inside\").Invoke(null, null);
                context.Unload();
                return new WeakReference(context);
            }
            static void Main() {
                int sum = 0;
                for (int i = 0; i < 12; i++) {
                    WeakReference gone = Round(ref sum);
                    for (int n = 0; gone.IsAlive && n < 100; n++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
                    Console.WriteLine(gone.IsAlive);
                }
                Console.WriteLine(sum);
            }
        }";
    let Some(made) = Made::new(PROGRAM) else { return };
    let run = made.run();
    assert!(run.said().ends_with("24\n"), "{}", run.said());
    assert_eq!(run.violations().count(), 0);
}

/// A PDB that is cut off, empty or something else: no lines, and nothing else is different.
#[test]
fn a_pdb_may_be_damaged() {
    const PROGRAM: &str = "
        using System; using System.Collections.Generic;
        class Program {
            static void Main() {
                var list = new List<int>();
                list.Add(1);
                try { list[7] = 1; } catch (ArgumentOutOfRangeException) { list.Add(2); }
                Console.WriteLine(string.Join(\",\", list));
            }
        }";
    let Some(made) = Made::new(PROGRAM) else { return };
    let pdb = made.program().with_extension("pdb");
    let whole = std::fs::read(&pdb).unwrap();
    let mut other = whole.clone();
    other[64..].iter_mut().for_each(|byte| *byte ^= 0xA5);
    for damaged in [&whole[..whole.len() / 2], &whole[..16], &[], &other] {
        std::fs::write(&pdb, damaged).unwrap();
        let run = made.run();
        assert_eq!((run.said().as_str(), run.sites()), ("1,2\n", 4), "{:?}", run.records);
    }
}

/// An assembly with a strong name is watched, and keeps the name.
#[test]
fn a_strong_name_is_kept() {
    const KEY: &str = "
        using System.IO; using System.Security.Cryptography;
        class Key { static void Main(string[] words) =>
            File.WriteAllBytes(words[0], new RSACryptoServiceProvider(1024).ExportCspBlob(true)); }";
    const PROGRAM: &str = "
        using System; using System.Collections.Generic;
        class Program {
            static void Main() {
                var list = new List<int>();
                list.Add(1);
                Console.WriteLine(typeof(Program).Assembly.GetName().GetPublicKeyToken().Length + list.Count);
            }
        }";
    let Some(made) = Made::new(KEY) else { return };
    let key = made.folder.path().join("key.snk");
    assert!(made.sdk.dotnet().arg(made.program()).arg(&key).status().unwrap().success());
    let source = made.folder.path().join("named.cs");
    std::fs::write(&source, PROGRAM).unwrap();
    made.sdk.compile(&[source], &made.program(), &[&format!("-keyfile:{}", key.display())]);
    let run = made.run();
    assert_eq!((run.said().as_str(), run.sites()), ("9\n", 1), "{:?}", run.records);
}
