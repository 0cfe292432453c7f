//! C# that is half typed, broken or made to do harm: no panic, no endless work, and what is whole
//! is still checked.

use std::path::Path;
use std::time::{Duration, Instant};

use raddle_check::{Budget, CheckOptions, Source, check_sources};

fn options() -> CheckOptions {
    let budget = Budget { steps: 200_000, runs: 20, ..Budget::interactive() };
    CheckOptions { budget, ..CheckOptions::default() }
}

fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check/csharp");
    let mut out: Vec<(String, String)> = ["bad", "ok"]
        .iter()
        .flat_map(|f| std::fs::read_dir(root.join(f)).expect("the corpus is there"))
        .map(|e| e.expect("readable").path())
        .map(|p| (p.display().to_string(), std::fs::read_to_string(&p).expect("text")))
        .collect();
    out.sort();
    out
}

/// A generator of its own: the cuts are the same in each run.
struct Cuts(u64);

impl Cuts {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// `RADDLE_CUTS=200` cuts each program at 200 places, and prints the slowest programs.
/// `RADDLE_PIECE=2/8` takes every eighth program, beginning with the third.
#[test]
fn programs_cut_anywhere_are_survived() {
    let cuts = std::env::var("RADDLE_CUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let piece = std::env::var("RADDLE_PIECE").unwrap_or_else(|_| "0/1".into());
    let numbers: Option<(usize, usize)> =
        piece.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    let (first, every) = numbers.expect("RADDLE_PIECE is two numbers with a slash");
    let mut times: Vec<(Duration, String)> = Vec::new();
    let mut checks = 0;
    for (i, (path, text)) in corpus().into_iter().enumerate().skip(first).step_by(every) {
        // Its own generator, so that a program is cut at the same places in any piece.
        let mut random = Cuts(i as u64 + 1);
        let started = Instant::now();
        for _ in 0..cuts {
            let at = random.below(text.len());
            let Some(cut) = text.get(..at) else { continue };
            let out = check_sources(&[Source::new("cut.cs", cut)], &options());
            assert_eq!(out.stats.files_left_out, 0, "{path} cut at {at}");
            checks += 1;
        }
        times.push((started.elapsed(), path));
    }
    times.sort();
    let all: Duration = times.iter().map(|t| t.0).sum();
    println!("{} programs, {checks} checks in {all:.1?}", times.len());
    times.iter().rev().take(5).for_each(|(time, path)| println!("{time:>9.1?} {path}"));
    assert!(checks > 0, "nothing was cut");
}

#[test]
fn what_stands_before_a_cut_is_checked() {
    let text = "using System.Threading;
class P {
    static int counter;
    static void Work() { counter++; }
    static void Main() { var t = new Thread(Work); t.Start(); Work(); t.Join(); }
}
class Unclosed { int x; void F() { if (x > 1) { x = ";
    let out = check_sources(&[Source::new("a.cs", text)], &CheckOptions::default());
    assert_eq!(out.findings.len(), 1, "{:?}", out.findings);
    assert!(out.stats.unparsed > 0);
}

#[test]
fn marks_and_wide_characters_are_read() {
    let text = "class P { static int n; static void Main() { System.Threading.Tasks.Task.Run(() => { n = 1; }); n = 2; } }";
    let wide: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked: Vec<u8> = [0xEF, 0xBB, 0xBF].into_iter().chain(text.bytes()).collect();
    for bytes in [wide, marked] {
        let out = check_sources(&[Source::new("a.cs", bytes)], &CheckOptions::default());
        assert_eq!((out.findings.len(), out.stats.files_left_out), (1, 0));
    }
}

#[test]
fn cycles_and_depth_are_bounded() {
    let deep = format!(
        "class P {{ static int F() {{ return {}1{}; }} static void Main() {{ F(); }} }}",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    let nested = format!("{}{}", "class A { ".repeat(300), "}".repeat(300));
    for text in [
        "class A : A { } class B : C { } class C : B { static void Main() { new B(); new A(); } }",
        "using A = B; using B = A; class P { A x; static void Main() { } }",
        "class P { static void Main() { Main(); } }",
        "class P { static int X = Y; static int Y = X; static void Main() { X = 1; } }",
        "class P { P p = new P(); static void Main() { new P(); } }",
        "class P { const int A = B; const int B = A; static void Main() { int x = A; } }",
        "class P { static void Main() { void F() { G(); } void G() { F(); } F(); } }",
        "enum E { A = B, B = A } class P { static void Main() { var x = E.A; } }",
        "delegate D D(D d); class P { D d; static void Main() { } }",
        "class P { static System.Collections.Generic.IEnumerable<int> F() { while (true) yield return 1; } static void Main() { foreach (var x in F()) { } } }",
        "class P { static void Main() { while (true) new P(); } }",
        &deep,
        &nested,
    ] {
        let out = check_sources(&[Source::new("a.cs", text)], &options());
        assert_eq!(out.findings.len(), 0, "{text:.80}: {:?}", out.findings);
    }
}

/// Thousands of classes, each derived from the one before. What a class has of those far above it
/// is not looked at, and the report says so.
#[test]
fn a_long_chain_of_classes_is_cut_with_a_sentence() {
    let mut text = String::from(
        "using System.Threading; class C0 { public int F0; public virtual void V() { F0++; } }\n",
    );
    for i in 1..2_000 {
        let base = i - 1;
        text += &format!(
            "class C{i} : C{base} {{ public int F{i}; public override void V() {{ F{i}++; base.V(); }} }}\n"
        );
    }
    text += "class P { static int n; static void Main() { var t = new Thread(() => n++); t.Start(); n++; } }";
    let out = check_sources(&[Source::new("a.cs", text)], &options());
    assert_eq!(out.findings.len(), 1, "{:?}", out.findings);
    let why: Vec<&str> = out.left_out.iter().map(|l| l.1.as_str()).collect();
    assert_eq!(why, ["checked only in part: 1936 classes derive from more than 64 others each"]);
}

/// A class that derives from itself over many others has an end.
#[test]
fn a_long_cycle_of_classes_is_bounded() {
    let classes: String =
        (0..300).map(|i| format!("class C{i} : C{} {{ int f{i}; }}\n", (i + 1) % 300)).collect();
    let text = classes + "class P { static void Main() { new C7(); } }";
    let out = check_sources(&[Source::new("a.cs", text)], &options());
    assert_eq!(out.findings.len(), 0, "{:?}", out.findings);
}
