//! How fast the interpreter is: `cargo run --release -p raddle-check --example speed`
//!
//! Loops in C, each run by two threads with race detection on, long enough that start-up does not
//! count. Beside the steps a second stands how many steps one iteration takes, and how many machine
//! instructions the same loop takes when `gcc -O0` compiles it, counted by `perf stat` or, where
//! that may not count, by callgrind, so that the figure means something. Prints tables in Markdown.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use raddle_check::explore::Budget;
use raddle_check::interp::Bounds;
use raddle_check::{CheckOptions, Source, check_sources};

struct Loop {
    name: &'static str,
    body: &'static str,
    iterations: u64,
}

const LOOPS: &[Loop] = &[
    Loop {
        name: "locals: `s += i * 3`",
        body: "int s = 0; for (int i = 0; i < N; i++) s += i * 3; return (void *)(long)s;",
        iterations: 400_000,
    },
    Loop {
        name: "shared reads: `s += table[i & 63]`",
        body: "int s = 0; for (int i = 0; i < N; i++) s += table[i & 63]; return (void *)(long)s;",
        iterations: 400_000,
    },
    Loop {
        name: "own writes: `mine[i & 63] += i`",
        body: "int *mine = cells + 64 * (long)arg; for (int i = 0; i < N; i++) mine[i & 63] += i; return 0;",
        iterations: 400_000,
    },
    Loop {
        name: "calls: `s = add(s, i)`",
        body: "int s = 0; for (int i = 0; i < N; i++) s = add(s, i); return (void *)(long)s;",
        iterations: 400_000,
    },
    Loop {
        name: "locked: `lock; total += i; unlock`",
        body: "for (int i = 0; i < N; i++) { pthread_mutex_lock(&lock); total += i; pthread_mutex_unlock(&lock); } return 0;",
        iterations: 100_000,
    },
    Loop {
        name: "atomics: `atomic_fetch_add(&count, 1)`",
        body: "for (int i = 0; i < N; i++) __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); return 0;",
        iterations: 200_000,
    },
];

fn program(body: &str, iterations: u64) -> String {
    format!(
        "#include <pthread.h>\n#define N {iterations}\nstatic int table[64], cells[128], count; static long total;\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         static int add(int a, int b) {{ return a + b; }}\n\
         static void *work(void *arg) {{ {body} }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, work, (void *)0); work((void *)1); pthread_join(t, 0);\n\
         return (table[0] + cells[0] + count + add(0, 0) + (int)total) & 1 & 0; }}\n"
    )
}

/// Machine instructions of a program from start to end.
fn instructions(folder: &Path, text: &str) -> Option<u64> {
    let (source, binary) = (folder.join("loop.c"), folder.join("loop"));
    std::fs::write(&source, text).ok()?;
    let built = Command::new("gcc").args(["-O0", "-pthread", "-o"]).args([&binary, &source]).output().ok()?;
    if !built.status.success() {
        return None;
    }
    let perf = Command::new("perf").args(["stat", "-x,", "-e", "instructions:u"]).arg(&binary).output().ok();
    let counted = perf.and_then(|o| {
        let text = String::from_utf8_lossy(&o.stderr).into_owned();
        text.lines().find(|l| l.contains("instructions")).and_then(|l| l.split(',').next()?.parse().ok())
    });
    counted.or_else(|| callgrind(folder, &binary))
}

fn callgrind(folder: &Path, binary: &Path) -> Option<u64> {
    let out = format!("--callgrind-out-file={}", folder.join("callgrind").display());
    let run = Command::new("valgrind").args(["--tool=callgrind", &out]).arg(binary).output().ok()?;
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    let line = text.lines().find(|l| l.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Instructions of one iteration: what twice as many cost more.
fn machine(folder: &Path, l: &Loop) -> Option<f64> {
    let [once, twice] = [1, 2].map(|n| instructions(folder, &program(l.body, n * l.iterations)));
    Some((twice? as f64 - once? as f64) / (2 * l.iterations) as f64)
}

fn rate(l: &Loop) -> (f64, f64) {
    let run = Bounds { steps: 20_000_000, ..Bounds::default() };
    let budget = Budget { run, steps: 20_000_000, runs: 4, stale: 4, quiet: 4, ..Budget::default() };
    let options = CheckOptions { budget, ..CheckOptions::default() };
    let source = Source::new("speed.c", program(l.body, l.iterations));
    let started = Instant::now();
    let out = check_sources(&[source], &options);
    let seconds = started.elapsed().as_secs_f64();
    assert!(out.findings.is_empty(), "the loops are correct");
    let iterations = (2 * l.iterations * out.stats.runs.max(1)) as f64;
    (out.stats.steps as f64 / seconds / 1e6, out.stats.steps as f64 / iterations)
}

fn loops(folder: &Path) {
    println!(
        "| loop, two threads | million steps/s | steps an iteration | instructions an iteration at -O0 |"
    );
    println!("|---|---|---|---|");
    for l in LOOPS {
        let best = (0..3).map(|_| rate(l)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        let machine = machine(folder, l).map_or("not counted".into(), |n| format!("{n:.1}"));
        println!("| {} | {:.1} | {:.1} | {machine} |", l.name, best.0, best.1);
    }
}

/// A file of about a thousand lines: 250 functions, called in turn by `main`, or by each of two
/// threads under a lock.
fn thousand_lines(threads: bool) -> String {
    let mut text = String::from("#include <pthread.h>\nstatic pthread_mutex_t lock; static long total;\n");
    for i in 0..250 {
        text += &format!("static int f{i}(int x) {{\n    int s = {i};\n");
        text += "    for (int i = 0; i < x; i++) s += i;\n    return s; }\n";
    }
    let calls: String = (0..250).map(|i| format!("s += f{i}(9); ")).collect();
    text += &format!(
        "static void *all(void *a) {{ long s = 0; {calls}\n    pthread_mutex_lock(&lock); total += s;"
    );
    text += " pthread_mutex_unlock(&lock); return 0; }\n";
    text + if threads {
        "int main(void) { pthread_t t; pthread_create(&t, 0, all, 0); all(0); pthread_join(t, 0); return total; }\n"
    } else {
        "int main(void) { all(0); return total; }\n"
    }
}

fn whole_files() {
    println!("| file, full budget | ms, first of the process | ms, again | runs | steps |");
    println!("|---|---|---|---|---|");
    for (name, threads) in [("1,000 lines, one thread", false), ("1,000 lines, two threads", true)] {
        let source = Source::new("file.c", thousand_lines(threads));
        // The first check of a thread also lowers the models.
        let source = &source;
        let times = std::thread::scope(|s| {
            let timed = move || {
                let started = Instant::now();
                let out = check_sources(std::slice::from_ref(source), &CheckOptions::default());
                (started.elapsed().as_secs_f64() * 1e3, out.stats)
            };
            s.spawn(move || [timed(), timed()]).join().expect("no panic")
        });
        let [(first, stats), (again, _)] = times;
        println!("| {name} | {first:.1} | {again:.1} | {} | {} |", stats.runs, stats.steps);
    }
}

fn main() {
    let folder = std::env::temp_dir().join(format!("raddle-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the loops");
    whole_files();
    println!();
    loops(&folder);
    let _ = std::fs::remove_dir_all(&folder);
}
