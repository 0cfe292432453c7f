//! `--memory c11`: the programs of `corpus/explore/weak` come out as their comments say under both
//! memory models, what synchronises is known, and a stale read can be kept and replayed.

mod common;

use std::path::{Path, PathBuf};

use common::Bench;
use common::explore::Searched;
use serde_json::Value;

/// More than the largest of the right programs has, so that what is not found is not there; but for
/// those in Rust, which make some hundred steps.
const SCHEDULES: &str = "--schedules 20000";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/weak")
}

fn programs(ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == ending)).collect();
    files.sort();
    files
}

/// What the program's header expects in a mode; nothing: it does not say.
fn expected<'a>(text: &'a str, mode: &str) -> Option<&'a str> {
    let headers = text.lines().filter_map(|l| l.strip_prefix("// expect("));
    let both = headers.filter_map(|h| h.split_once("): "));
    both.filter(|(modes, _)| modes.split(' ').any(|m| m == mode)).map(|(_, what)| what).next()
}

fn build(bench: &Bench, file: &Path) -> String {
    let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let line = match file.extension().unwrap().to_str().unwrap() {
        "rs" => "rustc --edition 2021 -g -Copt-level=1",
        "cc" => "c++ --use g++ -g -O1 -pthread",
        _ => "cc --use gcc -g -O1 -pthread",
    };
    common::succeed(bench.raddle(line).arg(file).arg("-o").arg(bench.path(&name)));
    format!("./{name}")
}

fn explore(bench: &Bench, mode: &str, target: &str) -> Searched {
    let line = format!("--memory {mode} {SCHEDULES} --format json -o report.json");
    let mut command = bench.explore_command(&line, &[target]);
    // The text of a backtrace takes files, and with them a process for each schedule.
    command.env("RUST_BACKTRACE", "0");
    bench.searched(common::explore::within(std::time::Duration::from_secs(300), &mut command))
}

/// How the outcome differs from what is expected, in both modes.
fn differences(file: &Path) -> Vec<String> {
    let bench = Bench::new();
    let target = build(&bench, file);
    let text = std::fs::read_to_string(file).unwrap();
    let is_rust = file.extension().is_some_and(|e| e == "rs");
    let mut wrong = Vec::new();
    for mode in ["sc", "c11"] {
        let Some(what) = expected(&text, mode) else {
            wrong.push(format!("{}: expects nothing of {mode}", file.display()));
            continue;
        };
        let found = explore(&bench, mode, &target);
        // A panic that ends the process may be told by the status.
        let same = |k: &str| k == what || (is_rust && what == "assertion" && k == "exit-status");
        let right = match what {
            "nothing" => found.kinds().is_empty() && found.status == 0,
            _ => found.status == 66 && found.kinds().len() == 1 && same(found.kinds()[0]),
        };
        let all = what != "nothing" || is_rust || found.is_at_its_end();
        if !right || !all || found.stat("memory_model") != mode {
            let (kinds, stats) = (found.kinds(), &found.report["stats"]);
            wrong.push(format!("{} under {mode}: {kinds:?}, {stats}\n{}", file.display(), found.stderr));
        }
    }
    wrong
}

#[track_caller]
fn all_as_expected(ending: &str, least: usize) {
    let files = programs(ending);
    assert!(files.len() >= least, "{files:?}");
    let wrong: Vec<String> = files.iter().flat_map(|f| differences(f)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_in_c_come_out_as_expected() {
    all_as_expected("c", 30);
}

#[test]
fn programs_in_cxx_come_out_as_expected() {
    all_as_expected("cc", 2);
}

#[test]
fn programs_in_rust_come_out_as_expected() {
    all_as_expected("rs", 2);
}

#[test]
fn a_stale_read_is_told_and_comes_back_in_every_replay() {
    let bench = Bench::new();
    let target = build(&bench, &folder().join("message_passing_relaxed_bad.c"));
    let found = explore(&bench, "c11", &target);
    let notes = found.findings()[0]["notes"].to_string();
    assert!(notes.contains("reads an old value of `data`, 1 before the newest"), "{notes}");
    let rows = found.findings()[0]["interleaving"]["rows"].to_string();
    assert!(rows.contains("reads an old value of `data`"), "{rows}");
    assert_eq!(found.stat("memory_model"), "c11");
    let again = bench.replay("--times 20", found.schedule());
    assert_eq!((again.stat("times"), again.stat("reproduced")), (&Value::from(20), &Value::from(20)));
    assert_eq!(again.stat("diverged"), &Value::from(false));
}

/// A hunt tries older values, too, once it has searched what sequential consistency allows.
#[test]
fn a_hunt_confirms_what_only_an_older_value_shows_and_explains_it() {
    let bench = Bench::new();
    for name in ["message_passing_relaxed_bad.c", "message_passing_rust_bad.rs", "message_passing_ok.c"] {
        let target = build(&bench, &folder().join(name));
        let line = format!("hunt --format json --seconds 60 --seed 1 -- {target}");
        let output = bench.raddle(&line).env("RUST_BACKTRACE", "0").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = report["findings"].as_array().unwrap();
        if name.contains("_ok") {
            assert_eq!((output.status.code(), found.len()), (Some(0), 0), "{name}: {report:#}");
            continue;
        }
        assert_eq!((output.status.code(), found.len()), (Some(66), 1), "{name}: {report:#}");
        assert_eq!(found[0]["confidence"], "confirmed");
        let why = found[0]["explanation"].as_str().unwrap();
        assert!(why.contains("reads an old value of") && why.contains("with acquire"), "{name}: {why}");
        let schedule = found[0]["schedule"].as_str().unwrap();
        let again = bench.raddle(&format!("replay {schedule}")).output().unwrap();
        assert_eq!(again.status.code(), Some(66), "{name}: {}", common::stderr(&again));
    }
}

/// A fence of assembly is not seen, so a hunt confirms nothing that it may rule out.
#[test]
fn a_hunt_tries_no_older_values_beside_a_fence_of_assembly() {
    let bench = Bench::new();
    for fence in ["mfence", "lock; addl $0, (%%rsp)"] {
        let text = format!(
            "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int seen[2];
static void set_and_look(atomic_int *own, atomic_int *other, int *into) {{
    atomic_store_explicit(own, 1, memory_order_relaxed);
    __asm__ volatile(\"{fence}\" ::: \"memory\");
    *into = atomic_load_explicit(other, memory_order_relaxed);
}}
static void *first(void *arg) {{ set_and_look(&x, &y, &seen[0]); return arg; }}
static void *second(void *arg) {{ set_and_look(&y, &x, &seen[1]); return arg; }}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(seen[0] || seen[1]);
    return 0;
}}
"
        );
        bench.file("fence.c", &text);
        bench.ok("cc --use gcc -g -O1 -pthread fence.c -o fence");
        let output = bench.raddle("hunt --seconds 60 --seed 1 -- ./fence").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &common::stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{fence}: {said}");
        assert!(said.contains("has a fence that is written as assembly"), "{fence}: {said}");
    }
}

/// One thread publishes relaxed data, the other reads it; `publish` and `receive` are what is
/// between.
fn passing(globals: &str, publish: &str, receive: &str) -> String {
    format!(
        "#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
atomic_int data;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
{globals}
static void set(void) {{ atomic_store_explicit(&data, 1, memory_order_relaxed); }}
static int get(void) {{ return atomic_load_explicit(&data, memory_order_relaxed); }}
static void *reader(void *p) {{ {receive} return p; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    {publish}
    pthread_join(t, 0);
    return 0;
}}
"
    )
}

/// Nothing may be found, and all there is must have been explored.
#[track_caller]
fn is_right(globals: &str, publish: &str, receive: &str) {
    let bench = Bench::new();
    let target = bench.build_text("passing", &passing(globals, publish, receive));
    let found = explore(&bench, "c11", &target);
    assert_eq!((found.status, found.kinds()), (0, vec![]), "{globals} {publish} {receive}\n{}", found.stderr);
    assert!(found.is_at_its_end(), "{}", found.report["stats"]);
}

#[test]
fn what_synchronises_is_known() {
    is_right(
        "int ready;",
        "set(); pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); int r = ready; pthread_mutex_unlock(&m); if (r) assert(get());",
    );
    is_right(
        "int ready; pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
        "set(); pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); assert(get());",
    );
    is_right(
        "int ready; pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;",
        "set(); pthread_rwlock_wrlock(&l); ready = 1; pthread_rwlock_unlock(&l);",
        "pthread_rwlock_rdlock(&l); int r = ready; pthread_rwlock_unlock(&l); if (r) assert(get());",
    );
    is_right(
        "static pthread_once_t o = PTHREAD_ONCE_INIT; static void set(void);",
        "pthread_once(&o, set);",
        "pthread_once(&o, set); assert(get());",
    );
}

#[test]
fn what_is_made_in_main_synchronises_too() {
    let bench = Bench::new();
    let program = passing("sem_t s; pthread_barrier_t b; atomic_int other;",
        "set(); sem_post(&s); atomic_store_explicit(&other, 1, memory_order_relaxed); pthread_barrier_wait(&b);",
        "sem_wait(&s); assert(get()); pthread_barrier_wait(&b); assert(atomic_load_explicit(&other, memory_order_relaxed)); set();")
        .replace("pthread_t t;", "pthread_t t; sem_init(&s, 0, 0); pthread_barrier_init(&b, 0, 2);")
        .replace("return 0;", "assert(get()); return 0;");
    let target = bench.build_text("passing", &program);
    let found = explore(&bench, "c11", &target);
    assert_eq!((found.status, found.kinds()), (0, vec![]), "{}", found.stderr);
}

/// The checks above can fail: without the lock, or with a lock of its own, the data may be stale.
#[test]
fn what_does_not_synchronise_is_found() {
    let bench = Bench::new();
    let publish = "set(); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); \
                   atomic_store_explicit(&ready, 1, memory_order_relaxed);";
    let receive = "if (atomic_load_explicit(&ready, memory_order_relaxed)) { pthread_mutex_lock(&n); assert(get()); \
                   pthread_mutex_unlock(&n); }";
    let globals = "atomic_int ready; pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;";
    let target = bench.build_text("passing", &passing(globals, publish, receive));
    assert_eq!(explore(&bench, "c11", &target).kinds(), ["assertion"]);
    assert!(explore(&bench, "sc", &target).kinds().is_empty());
}

/// An atomic in memory that is used anew: what the old one held is not read.
#[test]
fn memory_that_is_used_anew_begins_anew() {
    let round = "atomic_int *x = malloc(sizeof *x); atomic_init(x, 5); atomic_store_explicit(x, 6, memory_order_relaxed); \
                 assert(atomic_load_explicit(x, memory_order_relaxed) == 6); free(x);";
    is_right("", round, round);
    // The main thread puts a fresh value there plainly, and then publishes it by a release.
    is_right(
        "struct { int before; atomic_int x; } cell; atomic_int full;",
        "atomic_store_explicit(&cell.x, 1, memory_order_relaxed); memset(&cell, 0, sizeof cell); \
         atomic_store_explicit(&full, 1, memory_order_release);",
        "if (atomic_load_explicit(&full, memory_order_acquire)) assert(atomic_load_explicit(&cell.x, memory_order_relaxed) == 0);",
    );
}

/// Section 4.5: whether weaker memory could make a difference is told after a search without it.
#[test]
fn the_monitor_tells_when_c11_is_worth_the_time() {
    for (program, beyond) in [
        ("store_buffering_bad.c", true),
        ("store_buffering_fences_bad.c", true),
        ("dekker_bad.c", true),
        ("store_buffering_ok.c", false),
        ("store_buffering_fences_ok.c", false),
        ("mutex_orders_ok.c", false),
    ] {
        let bench = Bench::new();
        let target = build(&bench, &folder().join(program));
        let found = explore(&bench, "sc", &target);
        assert_eq!(found.stat("memory_model"), "sc");
        assert_eq!(found.stat("beyond_sc"), beyond, "{program}: {}", found.stderr);
        // A person is told in words.
        let mut told = bench.raddle("explore --schedules 2000 --");
        let output = told.arg(&target).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("under sequential consistency"), "{program}: {said}");
        assert_eq!(said.contains("--memory c11"), beyond, "{program}: {said}");
    }
}
