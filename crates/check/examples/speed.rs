//! How fast the interpreter is: `cargo run --release -p raddle-check --example speed`
//!
//! Three loops in C, each run by two threads with race detection on, long enough that start-up does not count. Beside the
//! steps a second stands how many steps one iteration takes, and how many machine instructions `gcc -O0` makes of it
//! (counted in its assembly for x86-64, gcc 12), so that the figure means something.

use std::time::Instant;

use raddle_check::explore::Budget;
use raddle_check::interp::Bounds;
use raddle_check::{Options, Source, check_sources};

struct Loop {
    name: &'static str,
    body: &'static str,
    /// Machine instructions of one iteration at `-O0`.
    machine: u32,
}

const LOOPS: &[Loop] = &[
    Loop {
        name: "locals",
        body: "int s = 0; for (int i = 0; i < N; i++) s += i * 3; return (void *)(long)s;",
        machine: 8,
    },
    Loop {
        name: "shared reads",
        body: "int s = 0; for (int i = 0; i < N; i++) s += table[i & 63]; return (void *)(long)s;",
        machine: 10,
    },
    Loop {
        name: "own writes",
        body: "int *mine = cells + 64 * (long)arg; for (int i = 0; i < N; i++) mine[i & 63] += i; return 0;",
        machine: 19,
    },
    Loop {
        name: "calls",
        body: "int s = 0; for (int i = 0; i < N; i++) s = add(s, i); return (void *)(long)s;",
        machine: 18,
    },
];

fn program(body: &str) -> String {
    format!(
        "#include <pthread.h>\n#define N 400000\nstatic int table[64], cells[128];\n\
         static int add(int a, int b) {{ return a + b; }}\n\
         static void *work(void *arg) {{ {body} }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, work, (void *)0); work((void *)1); pthread_join(t, 0); }}\n"
    )
}

/// A file of about a thousand lines: 250 functions, called in turn by `main`, or by each of two threads under a lock.
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
    for (name, threads) in [("1,000 lines, one thread", false), ("1,000 lines, two threads", true)] {
        let source = Source::new("file.c", thousand_lines(threads));
        // The first check of a process also lowers the models.
        for turn in ["first", "again"] {
            let started = Instant::now();
            let out = check_sources(std::slice::from_ref(&source), &Options::default());
            println!(
                "{name:24} {turn}: {:>8.1?}, {} runs, {} steps",
                started.elapsed(),
                out.stats.runs,
                out.stats.steps
            );
        }
    }
}

fn main() {
    whole_files();
    for l in LOOPS {
        let run = Bounds { steps: 20_000_000, ..Bounds::default() };
        let budget = Budget { run, steps: 20_000_000, runs: 4, stale: 4, quiet: 4, ..Budget::default() };
        let options = Options { budget, ..Options::default() };
        let source = Source::new("speed.c", program(l.body));
        let started = Instant::now();
        let out = check_sources(&[source], &options);
        let seconds = started.elapsed().as_secs_f64();
        let rate = out.stats.steps as f64 / seconds / 1e6;
        let iterations = 800_000.0 * out.stats.runs as f64;
        let per = out.stats.steps as f64 / iterations.max(1.0);
        println!(
            "{:14} {rate:7.1} million steps/s  ({per:.1} steps an iteration, {} machine instructions at -O0) {:?}",
            l.name, l.machine, out.stats.runs
        );
        assert!(out.findings.is_empty(), "the loops are correct");
    }
}
