//! `--strategy states`: it claims to be complete only where it knows the states. Programs with
//! states that are hard to know are in `corpus/explore/control/states_*`.

mod common;

use std::path::Path;

use common::{Bench, succeed};

/// Explores a C program with a main that runs `one` and `two` in threads. Whether the search claims
/// to be complete, how many executions it made, and what it found.
fn explore(text: &str) -> (bool, u64, Vec<String>) {
    let bench = Bench::new();
    let text = format!(
        "#define _GNU_SOURCE\n#include <assert.h>\n#include <linux/futex.h>\n#include <pthread.h>\n#include <stdint.h>\n\
         #include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n{text}\n\
         int main(void) {{ pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, &a);\n\
         pthread_join(b, 0); return 0; }}\n"
    );
    let file = bench.file("program.c", &text);
    explore_file(&bench, &file)
}

fn explore_file(bench: &Bench, file: &Path) -> (bool, u64, Vec<String>) {
    succeed(bench.raddle("cc -g -O1 -pthread").arg(file).arg("-o").arg(bench.path("program")));
    let found = bench.explore("--strategy states --schedules 3000", &["./program"]);
    let exhausted = found.stat("exhausted") == true;
    let schedules = found.report["stats"]["schedules"].as_u64().unwrap();
    let kinds = found.kinds().iter().map(|kind| kind.to_string()).collect();
    (exhausted, schedules, kinds)
}

const LOCKED: &str = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;";

/// 12,870 orders of the critical sections, and a few hundred states.
#[test]
fn rounds_of_loops_add_up() {
    let count =
        "for (int i = 0; i < 8; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); } return 0;";
    let text = format!("{LOCKED} void *one(void *p) {{ {count} }} void *two(void *p) {{ {count} }}");
    let (exhausted, schedules, kinds) = explore(&text);
    assert!(exhausted && schedules < 1500 && kinds.is_empty(), "{exhausted} {schedules} {kinds:?}");
}

/// In each of these programs something decides what happens that is not in a key.
#[test]
fn what_is_not_known_is_not_claimed() {
    let programs = [
        ("a clock", "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 0;"),
        ("a join that does not wait", "pthread_tryjoin_np(*(pthread_t *)p, 0); return 0;"),
        (
            "a futex",
            "static int32_t w[2]; syscall(SYS_futex, (char *)w + 4, FUTEX_WAKE, 1, 0, 0, 0); return 0;",
        ),
        ("a sleep", "usleep(10); return 0;"),
        ("a file", "if (access(\"/\", 0)) return p; return 0;"),
        (
            "a robust mutex",
            "static pthread_mutex_t r; pthread_mutexattr_t a; pthread_mutexattr_init(&a);\
             pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&r, &a);\
             pthread_mutex_lock(&r); pthread_mutex_unlock(&r); return 0;",
        ),
    ];
    for (name, two) in programs {
        let one = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0;";
        let text = format!("{LOCKED} void *one(void *p) {{ {one} }} void *two(void *p) {{ {two} }}");
        let (exhausted, schedules, kinds) = explore(&text);
        assert!(
            !exhausted && schedules <= 3 && kinds.is_empty(),
            "{name}: {exhausted} {schedules} {kinds:?}"
        );
    }
}

/// Two threads that give way to each other: a search that knows its states does not see that they
/// do so for ever, and must not claim that they end.
#[test]
fn a_cycle_of_states_is_no_complete_search() {
    let polite = |first: char, second: char| {
        format!(
            "for (;;) {{ pthread_mutex_lock(&{first}); if (!pthread_mutex_trylock(&{second})) break;\
             pthread_mutex_unlock(&{first}); }} pthread_mutex_unlock(&{second}); pthread_mutex_unlock(&{first}); return 0;"
        )
    };
    let (one, two) = (polite('m', 'n'), polite('n', 'm'));
    let locks = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;";
    let text = format!("{locks} void *one(void *p) {{ {one} }} void *two(void *p) {{ {two} }}");
    assert!(!explore(&text).0);
}

/// Each wrong program fails by something that is easily left out of a key. Its twin is searched to
/// the end.
#[test]
fn what_is_easily_left_out_of_a_key_is_in_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/control");
    let mut twins = [0, 0];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("states_") {
            continue;
        }
        let (exhausted, schedules, kinds) = explore_file(&Bench::new(), &path);
        let is_wrong = name.ends_with("_bad.c");
        assert_eq!(!kinds.is_empty(), is_wrong, "{name}: {schedules} {kinds:?}");
        assert_eq!(exhausted, !is_wrong, "{name}: {schedules} {kinds:?}");
        twins[usize::from(is_wrong)] += 1;
    }
    assert_eq!(twins, [9, 9]);
}
