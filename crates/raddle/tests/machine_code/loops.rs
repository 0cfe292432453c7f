//! Loops that are checked as they are left find the races that a check in each iteration finds, and
//! no others.

use super::common::Bench;
use super::watched;

const ELEMENTS: i64 = 64;

/// A random loop: what it does, in C, and which elements of `x` it reads and writes.
#[derive(Default)]
struct Loop {
    body: String,
    arguments: [i64; 3],
    reads: Vec<i64>,
    writes: Vec<i64>,
}

impl Loop {
    fn random(random: &mut impl FnMut(usize) -> usize) -> Loop {
        let from = 8 + random(16) as i64;
        let to = from + [0, 1, 2, 5, 20, 30][random(6)];
        let stop = from + random(24) as i64;
        let mut made = Loop { arguments: [from, to, stop], ..Loop::default() };
        let mut touch = |i: i64, write: bool| if write { made.writes.push(i) } else { made.reads.push(i) };
        let writes = random(2) == 0;
        let access = |at: &str| if writes { format!("x[{at}] = s") } else { format!("s += x[{at}]") };
        let shape = random(9);
        made.body = match shape {
            0 => {
                (from..to).for_each(|i| touch(i, writes));
                format!("for (long i = from; i < to; i++) {};", access("i"))
            }
            1 => {
                (from..to).for_each(|i| touch(i, writes));
                format!("for (long i = to; --i >= from;) {};", access("i"))
            }
            2 => {
                (from..to).step_by(2).for_each(|i| touch(i, writes));
                format!("for (long i = from; i < to; i += 2) {};", access("i"))
            }
            3 => {
                (from..to.min(stop)).for_each(|i| touch(i, writes));
                format!("for (long i = from; i < to; i++) {{ if (i == stop) break; {}; }}", access("i"))
            }
            4 => {
                (from..to.min(stop + 1)).for_each(|i| touch(i, writes));
                format!("for (long i = from; i < to; i++) {{ {}; if (i == stop) break; }}", access("i"))
            }
            5 => {
                (from..to).filter(|i| i & 1 == stop & 1).for_each(|i| touch(i, writes));
                format!("for (long i = from; i < to; i++) if ((i & 1) == (stop & 1)) {{ {}; }}", access("i"))
            }
            6 => {
                (from..to).for_each(|i| [i - 1, i + 1].into_iter().for_each(|i| touch(i, false)));
                "for (long i = from; i < to; i++) y[i] = x[i - 1] + x[i + 1];".into()
            }
            7 => {
                for i in (from..to).step_by(2) {
                    touch(i, writes);
                    if i == stop {
                        break;
                    }
                    touch(i + 1, writes);
                }
                let (first, second) = (access("i"), access("i + 1"));
                format!("for (long i = from; i < to; i += 2) {{ {first}; if (i == stop) break; {second}; }}")
            }
            _ => {
                (from..to).for_each(|i| {
                    touch(i, false);
                    touch(i, true);
                });
                "for (long i = from; i < to; i++) x[i] += s;".into()
            }
        };
        made
    }

    fn races(&self, element: i64, write: bool) -> bool {
        self.writes.contains(&element) || write && self.reads.contains(&element)
    }
}

/// One thread executes loops, another one touches one element of each array afterwards. What orders
/// them is itself a race: an atomic variable would have each iteration checked.
#[test]
fn loops_that_are_checked_late_find_the_same_races() {
    const VARIABLES: usize = 40;
    let bench = Bench::new();
    for (seed, compiler, level) in [(1, "gcc", "-O1"), (2, "clang-19", "-O2"), (3, "gcc", "-O2")] {
        let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed);
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut source =
            String::from("#include <pthread.h>\n#include <unistd.h>\nstatic volatile int turn;\n");
        let (mut expected, mut both) = (vec!["turn".to_string()], [String::new(), String::new()]);
        for n in 0..VARIABLES {
            let made = Loop::random(&mut random);
            let kind = ["char", "short", "int", "long", "float", "double"][random(6)];
            let [from, to, stop] = made.arguments;
            let (element, write) = (from - 2 + random(16) as i64, random(2) == 0);
            source += &format!(
                "_Alignas(64) {kind} v{n:02}[{ELEMENTS}], w{n:02}[{ELEMENTS}];
__attribute__((noinline)) static {kind} f{n}({kind} *x, {kind} *y, long from, long to, long stop) {{
    {kind} s = 1;
    {}
    return s + y[0] + stop;
}}\n",
                made.body
            );
            both[0] +=
                &format!("    s += f{n}(v{n:02}, w{n:02}, {from} + zero, {to} + zero, {stop} + zero);\n");
            both[1] += &if write {
                format!("    v{n:02}[{element}] = 1;\n")
            } else {
                format!("    s += v{n:02}[{element}];\n")
            };
            if made.races(element, write) {
                expected.push(format!("v{n:02}"));
            }
        }
        let [first, second] = both;
        source += &format!(
            "static volatile long zero;
static void *first(void *a) {{
    double s = 0;
{first}    turn = 1;
    return s == 0.5 ? a : 0;
}}
static void *second(void *a) {{
    volatile double s = 0;
    while (!turn) usleep(100);
{second}    return s == 0.5 ? a : 0;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}}
"
        );
        let late = watched(&bench, compiler, &[level], "loops.c", &source);
        let mut run = bench.run_command("--format json -o report.json", &["./program"]);
        let kept = bench.outcome(run.env("RADDLE_KEEP_PROBES", "1").output().unwrap());
        expected.sort_unstable();
        for (outcome, how) in [(late, "late"), (kept, "kept")] {
            let mut variables: Vec<&str> = outcome.variables();
            variables.sort_unstable();
            variables.dedup();
            assert_eq!(variables, expected, "{compiler} {level}, seed {seed}, {how}:\n{source}");
        }
        assert!(expected.len() > 5 && expected.len() < VARIABLES - 5, "{expected:?}");
    }
}

/// A loop that releases at its beginning and goes on for long.
const FLAGS: &str = "#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
enum { FLAGS = 1 << 19, ATOMIC = 8 };
static long flags[FLAGS], extra[FLAGS], data;
__attribute__((noinline)) static void raise_all(long *f, long *e, long n) {
    for (long i = 0; i < n; i++) {
        e[i] = i;
        __atomic_store_n(&f[i], 1, __ATOMIC_RELEASE);
    }
}
static void *first(void *a) {
    data = 5;
    raise_all(flags, extra, FLAGS);
    return a;
}
static void *second(void *a) {
    while (!__atomic_load_n(&flags[3], __ATOMIC_ACQUIRE));
    *(long *)a = data + extra[3];
    return a;
}
int main(void) {
    pthread_t a, b;
    long sum = 0;
    for (int i = 0; i < ATOMIC; i++) __atomic_exchange_n(&flags[i], 0, __ATOMIC_SEQ_CST);
    pthread_create(&b, 0, second, &sum);
    pthread_create(&a, 0, first, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf(\"%ld\\n\", sum);
    return 0;
}
";

/// A release in a loop must not come late: where there are atomic operations, each iteration is
/// checked.
#[test]
fn stores_that_release_in_a_loop_are_not_late() {
    let bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        let outcome = watched(&bench, compiler, &["-O1", "-g0"], "flags.c", FLAGS);
        assert!(outcome.findings().is_empty(), "{compiler}: {:#?}", outcome.findings());
    }
}

/// A handler that releases in the middle of a loop, what the loop has touched before.
const HANDLER: &str = "#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
enum { CELLS = 1 << 18 };
static long cells[CELLS];
static sem_t posted;
static volatile sig_atomic_t handled;
static void on_signal(int s) {
    (void)s;
    if (cells[0] && !handled) {
        handled = 1;
        sem_post(&posted);
    }
}
__attribute__((noinline)) static void fill(long *to, long n) {
    for (long i = 0; i < n; i++) to[i] = i + 1;
}
static void *first(void *a) {
    while (!handled) fill(cells, CELLS);
    return a;
}
static void *second(void *a) {
    sem_wait(&posted);
    *(long *)a = cells[0];
    return a;
}
int main(void) {
    pthread_t a, b;
    long seen = 0;
    sem_init(&posted, 0, 0);
    signal(SIGUSR1, on_signal);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, &seen);
    while (!handled) pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf(\"%ld\\n\", seen);
    return 0;
}
";

#[test]
fn nothing_is_late_where_signals_are_handled() {
    let bench = Bench::new();
    let outcome = watched(&bench, "gcc", &["-O1"], "handler.c", HANDLER);
    assert!(!outcome.variables().contains(&"cells"), "{:#?}", outcome.findings());
}

/// Both ends of a race in a loop are named by line: of one that is checked as it is left, and of
/// one that was short too often for that.
const LINES: &str = "#include <pthread.h>
long cells[256], others[256];
__attribute__((noinline)) static void fill(long *to, long n) {
    for (long i = 0; i < n; i++)
        to[i] = i; // line 5
}
__attribute__((noinline)) static void fill_others(long *to, long n) {
    for (long i = 0; i < n; i++)
        to[i] = i; // line 9
}
static void *work(void *a) {
    long own[2];
    fill(cells, 256);
    for (int i = 0; i < 200; i++) fill_others(own, 2);
    fill_others(others, 256);
    return a;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
";

#[test]
fn a_race_in_a_loop_has_its_line() {
    let bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        let outcome = watched(&bench, compiler, &["-O1"], "lines.c", LINES);
        outcome.assert_races(&["cells", "others"]);
        for finding in outcome.findings() {
            let expected =
                if finding["location"]["name"] == "cells" { ("fill", 5) } else { ("fill_others", 9) };
            for access in finding["accesses"].as_array().unwrap() {
                let frame = &access["stack"][0];
                let place = (frame["function"].as_str().unwrap(), frame["line"].as_u64().unwrap());
                assert_eq!(place, expected, "{compiler}: {finding:#}");
            }
        }
    }
}
