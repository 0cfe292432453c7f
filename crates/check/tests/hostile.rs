//! Input that no one would write on purpose, and some that one would: a bounded answer each, never
//! a panic.

use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_check::c::Includes;
use raddle_check::explore::Budget;
use raddle_check::interp::Bounds;
use raddle_check::{CheckOptions, CheckOutcome, Session, Source, check_sources};

/// Small enough that thousands of checks are quick.
fn small() -> CheckOptions {
    let run = Bounds { steps: 5_000, heap: 1 << 20, threads: 8, call_depth: 50 };
    let budget = Budget { run, steps: 20_000, runs: 6, stale: 3, quiet: 6, seed: 1 };
    CheckOptions { budget, ..CheckOptions::default() }
}

fn check(text: impl AsRef<[u8]>) -> CheckOutcome {
    let started = Instant::now();
    let out = check_sources(&[Source::new("hostile.c", text)], &small());
    assert!(started.elapsed() < Duration::from_secs(300), "took {:?}", started.elapsed());
    out
}

#[test]
fn a_binary_file_is_left_out_with_a_sentence() {
    let out = check([0x7f, b'E', b'L', b'F', 0, 1, 2, 3]);
    assert_eq!(out.left_out.len(), 1);
    assert!(out.left_out[0].1.contains("binary"));
    assert_eq!(out.stats.files_left_out, 1);
}

#[test]
fn a_huge_file_is_left_out_with_a_sentence() {
    let line = "int x = 1;\n";
    let out = check(line.repeat((50 << 20) / line.len()));
    assert!(out.left_out[0].1.contains("50 MB") || out.left_out[0].1.contains("49 MB"), "{:?}", out.left_out);
}

#[test]
fn megabytes_of_generated_functions_are_bounded() {
    let mut text = String::new();
    for i in 0..6_000 {
        text +=
            &format!("static int f{i}(int x) {{ if (x > {i}) return x * {i}; return f{}(x + 1); }}\n", i / 2);
    }
    let out = check(text + "int main(void) { return f5999(3); }\n");
    assert!(out.left_out.is_empty());
    assert_eq!(out.stats.functions, 6_001);
}

struct Cycle;
impl Includes for Cycle {
    fn find(&self, _: &str, name: &str, _: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        let text = if name == "a.h" { "#include \"b.h\"\n" } else { "#include \"a.h\"\n" };
        Some((name.into(), text.as_bytes().into()))
    }
}

#[test]
fn a_cycle_of_includes_is_cut_with_a_sentence() {
    let options = CheckOptions { includes: Arc::new(Cycle), ..small() };
    let out = Session::new(options).check(&[Source::new("a.c", "#include \"a.h\"\nint x;\n")], None);
    assert!(out.left_out[0].1.contains("include"), "{:?}", out.left_out);
}

#[test]
fn macros_without_end_are_cut_with_a_sentence() {
    let mut text = String::from("#define A0 x x x x\n");
    for i in 1..40 {
        text += &format!("#define A{i} A{0} A{0} A{0} A{0}\n", i - 1);
    }
    let out = check(text + "int y = A39;\n");
    assert!(
        out.left_out[0].1.contains("macro") || out.left_out[0].1.contains("tokens"),
        "{:?}",
        out.left_out
    );
}

#[test]
fn deep_nesting_of_anything_is_survived() {
    let n = 20_000;
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("if (1) ", ""),
        ("else if (1) ", ""),
        ("*", ""),
        ("!", ""),
        ("-", ""),
        ("f(", ")"),
        ("x ? ", ": 1"),
        ("a = ", ""),
        ("sizeof ", ""),
        ("(int)", ""),
        ("case 1: ", ""),
        ("l: ", ""),
        ("do ", ""),
        ("for (;;) ", ""),
        ("struct s { ", "}"),
        ("int (*", ")(void)"),
        ("1 + ", "1"),
        ("1, ", "1"),
        (".a", ""),
        ("[0]", ""),
        ("x.a->b", ""),
        ("a && ", "b"),
        ("({ ", "; })"),
        ("{ {", "} }, "),
    ] {
        let text = format!("int main(void) {{ x = {} 1 {}; }}\n", open.repeat(n), close.repeat(n));
        check(text);
        check(format!("int x = {} 1 {};\n", open.repeat(n), close.repeat(n)));
        check(format!("{} 1 {}\n", open.repeat(n), close.repeat(n)));
    }
}

/// What nests no deeper than the parser allows is lowered. Work that doubled with each level would
/// not come to its end here.
#[test]
fn nesting_that_is_accepted_costs_no_more_with_each_level() {
    let operators = [
        ("*", ""),
        ("&", ""),
        ("*&", ""),
        ("!", ""),
        ("-", ""),
        ("~", ""),
        ("+", ""),
        ("++", ""),
        ("sizeof ", ""),
        ("(int)", ""),
        ("(int *)", ""),
        ("(struct s)", ""),
        ("f(", ")"),
        ("a[", "]"),
        ("(", ")[0]"),
        ("(", ")->next"),
        ("(*", ").next"),
        ("(", ")()"),
        ("p + ", ""),
        ("p * ", ""),
        ("(p, ", ")"),
        ("(p ? ", " : p)"),
        ("(p ? p : ", ")"),
        ("(p ?: ", ")"),
        ("(p && ", ")"),
        ("(p = ", ")"),
        ("({ p; ", "; })"),
        ("_Generic(", ", default: p)"),
        ("_Generic(p, default: ", ")"),
        ("__builtin_expect(", ", 1)"),
        ("(int[]){", "}[0]"),
    ];
    let declarations = "struct s { struct s *next; int n; } *p; int a[9]; int f();\n";
    // Some take more than one level of the parser's, so that only the smaller number is lowered.
    for ((open, close), n) in operators.iter().flat_map(|o| [(o, 36), (o, 100)]) {
        let e = format!("{}p{}", open.repeat(n), close.repeat(n));
        check(format!(
            "{declarations}int main(void) {{ int c = {e}; a[{e}] = {e}; {e} = 1; return {e}; }}\n"
        ));
        check(format!("{declarations}int g = {e}; int h[{e}]; void *k = &{e};\n"));
        check(format!("int main(void) {{ return p{e}; }}\n"));
    }
    // A banner whose comment was opened without its slash, as it is while somebody edits it.
    let stars = "*".repeat(90);
    check(format!("int total;\nint f(int a) {{ return a + total\n{stars}\n* words\n{stars}/\n}}\n"));
}

#[test]
fn deep_nesting_in_the_preprocessor_is_survived() {
    let n = 20_000;
    check(format!("#define F(x) x\nint y = {}1{};\n", "F(".repeat(n), ")".repeat(n)));
    check(format!("#if {}1{}\nint y;\n#endif\n", "(".repeat(n), ")".repeat(n)));
    check(format!("#if {}1\nint y;\n#endif\n", "1 ? 1 : ".repeat(n)));
    check(format!("#if {}1\nint y;\n#endif\n", "1 || ".repeat(n)));
    check("#if 1\n".repeat(n));
    check("#endif\n#else\n".repeat(n));
}

#[test]
fn types_that_contain_themselves_are_survived() {
    check(
        "struct s { struct s x; struct s y[3]; } v = { 1, 2, 3 }; int main(void) { struct s w = { { 1 } }; w = v; }",
    );
    check(
        "union u { union u u; }; union u x = { 1 }; typedef struct t t; struct t { t a[2]; }; t b = { 1, 2 };",
    );
    check("int a[1000000][1000000][1000000]; int main(void) { a[1][2][3] = 4; int b[99999999]; b[5] = 1; }");
    check("struct { char x[18446744073709551615u]; int y; } z; int main(void) { z.y = 1; return z.x[3]; }");
}

#[test]
fn programs_without_end_are_bounded() {
    let recursion = "int f(int x) { return f(x + 1) + f(x); } int main(void) { return f(0); }";
    let loops = "int main(void) { for (;;) ; }";
    let memory = "#include <stdlib.h>\nint main(void) { for (;;) malloc(1000); }";
    let threads = "#include <pthread.h>\nvoid *f(void *x) { pthread_t t; for (;;) pthread_create(&t, 0, f, 0); }\n\
        int main(void) { f(0); }";
    let sleep = "#include <unistd.h>\nint main(void) { for (;;) sleep(1); }";
    let unknown = "int main(int c, char **v) { while (c) if (v[c]) c = g(v, &c); }";
    for text in [recursion, loops, memory, threads, sleep, unknown] {
        check(text);
    }
}

/// A small generator: the same numbers everywhere.
struct Numbers(u64);
impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

const SPLICES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "*",
    "&",
    "=",
    "\"",
    "'",
    "#",
    "#if 1\n",
    "#define x y\n",
    "\\\n",
    "/*",
    "//",
    "...",
    "->",
    "int ",
    "struct ",
    "typedef ",
    "union {",
    "enum {",
    "sizeof",
    "0x",
    "1e",
    "void (*f)(",
    "return",
    "goto ",
    "case ",
    "default:",
    "static ",
    "\n",
    "[",
    "]",
    "?",
    ":",
    "\u{0}",
    "é",
    "__attribute__((",
    "_Atomic ",
    "#pragma omp parallel\n",
    "#pragma omp for\n",
    "pthread_mutex_lock(",
    "va_arg(",
    "({",
    "_Generic(",
    "&&",
    "<<=",
    "%:",
    "asm(",
    "++",
    "99999999999",
];

fn mutate(text: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..1 + numbers.below(6) {
        let at = numbers.below(text.len() + 1);
        match numbers.below(5) {
            0 => {
                let end = (at + 1 + numbers.below(40)).min(text.len());
                text.drain(at..end);
            }
            1 => {
                let word = SPLICES[numbers.below(SPLICES.len())];
                text.splice(at..at, word.bytes());
            }
            2 => text.truncate(at),
            3 => {
                let from = numbers.below(text.len() + 1);
                let piece: Vec<u8> = text[from..(from + numbers.below(60)).min(text.len())].to_vec();
                text.splice(at..at, piece);
            }
            _ => {
                if let Some(b) = text.get_mut(at) {
                    *b = numbers.below(256) as u8;
                }
            }
        }
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check");
    let mut paths: Vec<_> = ["bad", "ok"]
        .iter()
        .flat_map(|f| std::fs::read_dir(root.join(f)).expect("the corpus is there"))
        .filter_map(|e| e.ok().map(|e| e.path()))
        .collect();
    paths.sort();
    paths.iter().map(|p| std::fs::read(p).expect("readable")).collect()
}

fn check_mutant(corpus: &[Vec<u8>], seed: u64) {
    let mut numbers = Numbers(seed);
    let mut text = corpus[numbers.below(corpus.len())].clone();
    mutate(&mut text, &mut numbers);
    // A zero byte would only test that binary files are left out.
    text.retain(|b| *b != 0);
    check(text);
}

/// Programs of the corpus with random damage. `RADDLE_MUTANTS=100000` looks further,
/// `RADDLE_MUTANT_FROM` elsewhere.
#[test]
fn damaged_programs_never_make_it_panic() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
    };
    let corpus = corpus();
    let from = number("RADDLE_MUTANT_FROM", 0);
    for seed in from..from + number("RADDLE_MUTANTS", 300) {
        if std::panic::catch_unwind(|| check_mutant(&corpus, seed)).is_err() {
            panic!("seed {seed} made it panic: add it to tests/seeds.txt");
        }
    }
}

/// Seeds that once did harm.
#[test]
fn seeds_that_once_did_harm_do_none() {
    let corpus = corpus();
    let seeds = include_str!("seeds.txt");
    for line in seeds.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        check_mutant(&corpus, line.trim().parse().expect("a seed is a number"));
    }
}

/// `RADDLE_CUTS=200` cuts each program at 200 places. The cuts are the same in each run.
#[test]
fn programs_cut_anywhere_are_survived() {
    let cuts = std::env::var("RADDLE_CUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut numbers = Numbers(1);
    for (program, text) in corpus().iter().enumerate() {
        for _ in 0..cuts {
            let at = numbers.below(text.len());
            let out = check(&text[..at]);
            assert_eq!(out.stats.files_left_out, 0, "program {program} cut at {at}");
        }
    }
}

#[test]
fn what_stands_before_a_cut_is_checked() {
    let text = "#include <pthread.h>
static int counter;
static void *work(void *argument) { counter++; return argument; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    counter++;
    pthread_join(t, 0);
    return 0;
}
static int unclosed(int x) { if (x > 1) { x = ";
    let out = check_sources(&[Source::new("a.c", text)], &CheckOptions::default());
    assert_eq!(out.findings.len(), 1, "{:?}", out.findings);
    assert!(out.stats.unparsed > 0);
}

#[test]
fn locks_that_are_never_released_are_bounded() {
    let text = "#include <pthread.h>
        extern int next_job(void);
        extern void job_lock(int);
        static void *work(void *data) { for (;;) job_lock(next_job()); return data; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, work, 0);
            pthread_join(t, 0);
            return 0;
        }";
    let out = check(text);
    assert!(out.findings.is_empty(), "{:?}", out.findings);
    assert_eq!(out.stats.entries_out_of_room, 1);
}
