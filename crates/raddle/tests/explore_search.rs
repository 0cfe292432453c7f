//! The search as a whole: limits, jobs, resuming, what is written where.

mod common;

use common::Bench;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FIXED_STATS: [&str; 8] =
    ["schedules", "strategy", "bound", "exhausted", "threads_max", "steps_max", "preemptions_max", "seconds"];

/// Four threads with many steps: more schedules than can be made in a test.
const LARGE: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
atomic_int n[8];
static void *work(void *p) {
    for (int i = 0; i < 40; i++) atomic_fetch_add(&n[i % 8], 1);
    return p;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
"#;

#[test]
fn a_small_right_program_is_searched_to_the_end() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/check_then_act_ok.c");
    let done = bench.explore("", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.stderr);
    assert_eq!(done.stat("exhausted"), &Value::from(true));
    for key in FIXED_STATS {
        done.stat(key);
    }
    assert_eq!(done.stat("threads_max"), &Value::from(3));
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

#[test]
fn every_strategy_finds_a_lost_update() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/lost_update_bad.c");
    for strategy in ["preemption", "delay", "dfs", "random", "pct", "pos", "surw", "rff", "portfolio"] {
        let found =
            bench.explore(&format!("--strategy {strategy} --schedules 10000 --seconds 60"), &[&target]);
        assert_eq!(found.kinds(), ["assertion"], "{strategy}: {}", found.stderr);
        assert_eq!(found.stat("strategy"), &Value::from(strategy));
    }
}

#[test]
fn limits_are_kept() {
    let bench = Bench::new();
    let target = bench.build_text("large", LARGE);
    let few = bench.explore("--schedules 50", &[&target]);
    assert_eq!((few.status, few.stat("schedules")), (0, &Value::from(50)));
    assert_eq!(few.stat("exhausted"), &Value::from(false));
    let none = bench.explore("--strategy preemption --bound 0", &[&target]);
    assert_eq!(none.stat("exhausted"), &Value::from(false));
    assert_eq!(none.stat("not_complete"), &Value::from("schedules beyond bound 0 were not made"));
    assert_eq!(none.stat("preemptions_max"), &Value::from(0));
    let short = bench.explore("--seconds 1 --jobs 2", &[&target]);
    assert_eq!((short.status, short.stat("exhausted")), (0, &Value::from(false)));
    assert!(short.stat("seconds").as_f64().unwrap() < 30.0);
}

#[test]
fn several_workers_share_a_search() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/check_then_act_ok.c");
    let count = |jobs: u32| {
        let done = bench.explore(&format!("--strategy preemption --jobs {jobs}"), &[&target]);
        assert_eq!(done.stat("exhausted"), &Value::from(true));
        done.stat("schedules").as_u64().unwrap()
    };
    let (one, three) = (count(1), count(3));
    // What is pruned depends on what comes back first; nothing is made by each of the workers.
    assert!(three < 2 * one, "{three} schedules by three workers, {one} by one");
}

#[test]
fn an_interrupted_search_goes_on() {
    let bench = Bench::new();
    let target = bench.build_text("large", LARGE);
    let mut command = bench.explore_command("--format json -o report.json --seconds 100", &[&target]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Wait for a worker, which has a file of orders, and then some.
    let begun = Instant::now();
    while !has_orders(&bench) {
        assert!(begun.elapsed() < Duration::from_secs(300), "no worker");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let first = bench.searched(child.wait_with_output().unwrap());
    assert_eq!((first.status, first.stat("interrupted")), (0, &Value::from(true)), "{}", first.stderr);
    assert!(first.stderr.contains("--resume"), "{}", first.stderr);
    assert!(bench.path("large.raddle-search").exists());
    let before = first.stat("schedules").as_u64().unwrap();
    let second = bench.explore("--resume --schedules 20", &[&target]);
    assert_eq!(second.status, 0, "{}", second.stderr);
    assert_eq!(second.stat("schedules").as_u64().unwrap(), before + 20);
}

fn has_orders(bench: &Bench) -> bool {
    let folders = std::fs::read_dir(bench.session_folder()).unwrap().flatten();
    folders.into_iter().any(|f| f.path().join("explore").exists())
}

#[test]
fn there_is_nothing_to_resume() {
    let bench = Bench::new();
    let target = bench.build_text("large", LARGE);
    bench.refuses_to_explore("--resume", &[&target], &["no interrupted search", "large.raddle-search"]);
}

#[test]
fn a_failure_is_told_with_its_lines() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/philosophers_3_bad.c");
    let output = bench.explore_command("", &[&target]).output().unwrap();
    let text = common::stderr(&output);
    for part in [
        "confirmed deadlock",
        "a circle of threads that wait: ",
        "which T2 (philosopher) holds",
        "interleaving:",
        "T1 (philosopher)",
        "locks L1 `fork_of`",
        "replay: raddle replay philosophers_3_bad-deadlock-1.raddle",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    assert!(bench.path("philosophers_3_bad-deadlock-1.raddle").exists());
}

#[test]
fn each_failure_is_reported_once_when_the_search_goes_on() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/lost_update_bad.c");
    let found = bench.explore("--keep-going --strategy preemption --schedules-to found", &[&target]);
    assert_eq!(found.kinds(), ["assertion"]);
    assert_eq!(found.stat("exhausted"), &Value::from(true));
    assert_eq!(found.schedule(), "found/lost_update_bad-assertion-1.raddle");
}

/// What keeps a search that is at its end from being complete.
#[track_caller]
fn is_not_complete(options: &str, text: &str, because: &str) {
    let bench = Bench::new();
    let target = bench.build_text("short", text);
    let done = bench.explore(options, &[&target]);
    assert_eq!(done.stat("exhausted"), &Value::from(false), "{}", done.report["stats"]);
    let reason = done.stat("not_complete").as_str().unwrap();
    assert!(reason.contains(because), "`{because}` is not in: {reason}");
    let output = bench.explore_command(options, &[&target]).output().unwrap();
    let told = common::stderr(&output);
    assert!(told.contains("not complete, though") && !told.contains(": complete after"), "{told}");
}

/// Allocating a block is a scheduling point here, right before the first write to it.
#[test]
fn a_block_that_is_handed_over_is_no_copy() {
    let text = include_str!("../../../corpus/conseq/queue_forgets_ok.c");
    let bench = Bench::new();
    let target = bench.build_text("queue", text);
    let done = bench.explore("", &[&target]);
    assert_eq!(done.stat("exhausted"), &Value::from(true), "{}", done.report["stats"]);
    assert_eq!(done.report["findings"].as_array().map(Vec::len), Some(0), "{}", done.report["findings"]);
}

fn two_threads(globals: &str, one: &str, two: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <sched.h>\n#include <signal.h>\n#include <stdatomic.h>\n#include <string.h>\n
         {globals}\nvoid *one(void *x) {{ {one} return x; }}\nvoid *two(void *x) {{ {two} return x; }}
         int main(void) {{
             pthread_t p, q;
             pthread_create(&p, 0, one, 0); pthread_create(&q, 0, two, 0);
             pthread_join(p, 0); pthread_join(q, 0);
         }}"
    )
}

#[test]
fn what_is_not_covered_is_told() {
    let read_twice = two_threads(
        "atomic_int x; int seen[2];",
        "for (volatile int i = 0; i < 2; i++) seen[i] = atomic_load(&x);",
        "atomic_store(&x, 1);",
    );
    is_not_complete("", &read_twice, "polls a variable");
    let copies = two_threads(
        "char a[64], b[64], c[64];",
        "memcpy(a, b, sizeof a); __asm__ volatile(\"\" ::: \"memory\");",
        "memcpy(a, c, sizeof a); __asm__ volatile(\"\" ::: \"memory\");",
    );
    is_not_complete("", &copies, "many bytes");
    // It can end with 0 in `a` and 1 in `b`.
    let copy = two_threads("struct { long v; } a, b;", "a = b;", "b.v = 1; a.v = 2;");
    is_not_complete("", &copy, "is copied to another one");
    // The same into a block whose allocation is a scheduling point, too.
    let copy = two_threads(
        "#include <stdlib.h>\nstruct s { long v; }; struct s a; struct s *volatile block;",
        "struct s *p = malloc(sizeof *p); *p = a; block = p;",
        "struct s *p = block; a.v = 1; if (p) p->v = 2;",
    );
    is_not_complete("", &copy, "is copied to another one");
    // `x` and `y` can differ.
    let passed = two_threads(
        "struct pair { long x, y; } p; __attribute__((noinline)) void look(struct pair p) { if (p.x != p.y) __builtin_trap(); }",
        "look(p);",
        "p.x = 1; p.y = 1;",
    );
    is_not_complete("", &passed, "`one` may pass a struct by value");
    // `x` and `y` can differ.
    let returned = two_threads(
        "struct pair { int x, y; } p; __attribute__((noinline)) struct pair make(int i) { return (struct pair){i, i}; }",
        "p = make(1);",
        "if (p.x != p.y) __builtin_trap();",
    );
    is_not_complete("", &returned, "`one` may write a struct that a call returns");
    let counts = two_threads("atomic_int x;", "atomic_fetch_add(&x, 1);", "atomic_fetch_add(&x, 1);");
    is_not_complete("--strategy aim", &counts, "only near its targets");
    is_not_complete("--only fun:one", &counts, "--only");
    is_not_complete("--strategy preemption --bound 0", &counts, "beyond bound 0");
    let fails = two_threads("atomic_int x;", "x = 1; __builtin_trap();", "x = 2;");
    is_not_complete("--keep-going", &fails, "before its other threads were done");
}

/// Bit-fields that share three bytes, and `long double`: clang puts no probe before such accesses,
/// and gcc does.
#[test]
fn accesses_of_odd_sizes_are_told() {
    let programs = [
        ("struct { unsigned a : 10, b : 10; unsigned char c; } u;", "u.a = 5;", "u.b = 6;"),
        ("long double u;", "u += 1;", "u += 1;"),
    ];
    let bench = Bench::new();
    for (globals, one, two) in programs {
        bench.file("odd.c", &two_threads(globals, one, two));
        for (compiler, because) in
            [("clang-19", Some("at once, and clang and rustc do not report")), ("gcc", None)]
        {
            for optimised in ["-O0", "-O2"] {
                let build = format!("cc --use {compiler} -g {optimised} -pthread odd.c -o odd");
                common::succeed(&mut bench.raddle(&build));
                let done = bench.explore("", &["./odd"]);
                let told = done.stat("not_complete").as_str();
                let is_told = told.is_some_and(|told| because.is_some_and(|b| told.contains(b)));
                assert_eq!(is_told, because.is_some(), "{build}: {}", done.report["stats"]);
            }
        }
    }
}

/// A struct that no other thread can have, and members that are passed, keep nothing from being
/// complete.
#[test]
fn structs_of_the_own_frame_are_passed_by_value() {
    let bench = Bench::new();
    let passed = two_threads(
        "struct pair { long x, y; } p; pthread_mutex_t m;
         __attribute__((noinline)) long look(struct pair p) { return p.x - p.y; }
         __attribute__((noinline)) long sum(long x, long y) { return x + y; }",
        "pthread_mutex_lock(&m); struct pair own = p; pthread_mutex_unlock(&m); if (look(own)) __builtin_trap();",
        "pthread_mutex_lock(&m); p.x = sum(p.x, 1); p.y = sum(p.y, 1); pthread_mutex_unlock(&m);",
    );
    let done = bench.explore("", &[&bench.build_text("passed", &passed)]);
    assert_eq!(done.stat("exhausted"), &Value::from(true), "{}", done.report["stats"]);
}

/// Calls are counted on the way, and functions have the addresses that they have without raddle,
/// however they are compiled. What can be called by an address counts as called.
#[test]
fn functions_of_libraries_keep_their_addresses() {
    let bench = Bench::new();
    bench.file(
        "there.c",
        "void taken(int *p) { *p += 1; }
         void (*of_data)(int *) = taken;
         void (*get(void))(int *) { return taken; }
         void early(int *p) { *p = 0; }",
    );
    bench.file(
        "here.c",
        r#"
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
extern void taken(int *), (*of_data)(int *), (*get(void))(int *), early(int *);
static void (*const here)(int *) = taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *x) {
    pthread_mutex_lock(&lock);
    assert(get() == taken && of_data == taken && here == taken);
    assert(dlsym(RTLD_DEFAULT, "taken") == (void *)taken);
    get()(&n);
    pthread_mutex_unlock(&lock);
    return x;
}
int main(void) {
    pthread_t t[2];
    early(&n);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(n == 2);
    return 0;
}
"#,
    );
    common::succeed(bench.command("gcc").args("-g -O1 -shared -fPIC there.c -o libthere.so".split(' ')));
    let ways = ["-pie -fPIE", "-no-pie -fno-pie", "-fno-plt", "-no-pie -fPIE", "-no-pie -fno-pie -fno-plt"];
    for (way, binding) in ways.into_iter().flat_map(|way| [(way, "lazy"), (way, "now")]) {
        let link = format!("-L. -lthere -Wl,-rpath,. -Wl,-z,{binding} -ldl");
        bench.ok(&format!("cc --use gcc -g -O1 -pthread {way} here.c -o here {link}"));
        let done = bench.explore("", &["./here"]);
        assert_eq!((done.status, done.kinds().len()), (0, 0), "{way}, {binding}: {}", done.stderr);
        let reason = done.stat("not_complete").as_str().unwrap();
        assert!(reason.contains("`taken`"), "{way}, {binding}: {reason}");
        assert_eq!(reason.contains("`early`"), way.contains("-fno-plt"), "{way}, {binding}: {reason}");
    }
}

#[test]
fn data_races_are_reported_on_request() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/reorder_3_ok.c");
    assert_eq!(bench.explore("--races", &[&target]).kinds().len(), 0);
    let target = bench.build_explored("suite/reorder_3_bad.c");
    let found = bench.explore("--races", &[&target]);
    for kind in ["assertion", "data-race"] {
        assert!(found.kinds().contains(&kind), "{:?}", found.kinds());
    }
    let race = found.findings().iter().find(|f| f["kind"] == "data-race").unwrap();
    assert_eq!(race["confidence"], "confirmed");
    assert_eq!(race["accesses"].as_array().map(Vec::len), Some(2));
    let again = bench.replay("", race["schedule"].as_str().unwrap());
    assert_eq!((again.status, again.kinds()), (66, vec!["data-race"]), "{}", again.stderr);
}

/// The status tells how far the heap is from the code, or which thread came first.
const STATUS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static atomic_int turn;
static void *work(void *order) {
    if (order) *(int *)order = atomic_fetch_add(&turn, 1);
    return 0;
}
int main(int n, char **words) {
    int mine, other, by_order = n > 1 && !strcmp(words[1], "order");
    pthread_t t;
    pthread_create(&t, 0, work, by_order ? &other : 0);
    if (by_order) mine = atomic_fetch_add(&turn, 1);
    pthread_join(t, 0);
    if (by_order) return mine;
    return labs((char *)malloc(1) - (char *)main) > 1L << 36 ? 2 : 0;
}
"#;

#[test]
fn a_status_that_no_schedule_decides_is_only_suspected() {
    let bench = Bench::new();
    let target = bench.build_text("status", STATUS);
    let by_address = bench.explore("", &[&target]);
    assert_eq!(by_address.kinds(), ["exit-status"], "raddle's heap is far from the program");
    let found = &by_address.findings()[0];
    assert_eq!(found["confidence"], "suspected", "{found}");
    assert!(found["notes"].to_string().contains("something that no schedule decides"), "{found}");
    let by_order = bench.explore("", &[&target, "order"]);
    let confirmed = by_order.findings().iter().any(|f| f["confidence"] == "confirmed");
    assert!(confirmed && by_order.kinds() == ["exit-status"], "{:?}", by_order.findings());
}

#[test]
fn steps_in_library_functions_are_named_by_the_function() {
    let bench = Bench::new();
    let text = r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void *sets(void *arg) { setenv("RADDLE_TESTS_THIS", "1", 1); return arg; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, sets, 0);
    assert(!getenv("RADDLE_TESTS_THIS"));
    pthread_join(t, 0);
    return 0;
}
"#;
    let target = bench.build_text("environment", text);
    let found = bench.explore("", &[&target]);
    let rows = found.findings()[0]["interleaving"]["rows"].to_string();
    assert!(rows.contains("calls `setenv`") && rows.contains("calls `getenv`"), "{rows}");
}
