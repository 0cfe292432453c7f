//! Test programs: each of their tests is explored by itself, and all of them are one report.

mod common;

use common::Bench;
use serde_json::Value;

const RUST: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::thread;

    #[test]
    fn right() {
        let m = Arc::new(Mutex::new(0));
        let n = m.clone();
        let t = thread::spawn(move || *n.lock().unwrap() += 1);
        t.join().unwrap();
        assert_eq!(*m.lock().unwrap(), 1);
    }

    #[test]
    fn wrong() {
        let a = Arc::new(AtomicI32::new(0));
        let b = a.clone();
        let add = |a: &AtomicI32| {
            let seen = a.load(SeqCst);
            a.store(seen + 1, SeqCst);
        };
        let t = thread::spawn(move || add(&b));
        add(&a);
        t.join().unwrap();
        assert_eq!(a.load(SeqCst), 2);
    }
}
"#;

#[test]
fn tests_of_rust_are_explored_one_by_one() {
    let bench = Bench::new();
    bench.file("queue.rs", RUST);
    bench.ok("rustc --edition 2021 --test -g -Copt-level=1 queue.rs -o queue");
    let found = bench.explore("--schedules 100 --seconds 30", &["./queue"]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    assert_eq!(found.stat("tests"), &Value::from(2));
    let notes = found.findings()[0]["notes"].to_string();
    assert!(notes.contains("in the test `tests::wrong`"), "{notes}");
    // The rows of the table are the program's own lines, however deep in std the operation is.
    let rows = found.findings()[0]["interleaving"]["rows"].as_array().unwrap();
    let own =
        rows.iter().filter(|r| r["frame"]["file"].as_str().is_some_and(|f| f.ends_with("queue.rs"))).count();
    assert!(own >= 4, "{rows:#?}");
    // The file runs that test alone.
    let again = bench.replay("--times 3", found.schedule());
    assert_eq!(again.status, 66, "{}", again.stderr);
    assert!(again.stderr.contains("3 of 3"), "{}", again.stderr);
}

/// What a program made with GoogleTest does with its arguments, and the name by which it is known.
const GOOGLETEST: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
const char *known_by = "_ZN7testing8internal23MakeAndRegisterTestInfo";
static atomic_int n;
static void *add(void *p) { int seen = n; n = seen + 1; return p; }
static int counts(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "--gtest_list_tests")) {
        puts("Counter.\n  Counts\n  Alone\n  DISABLED_Broken");
        return 0;
    }
    if (!strcmp(word, "--gtest_filter=Counter.Counts")) return counts();
    if (!strcmp(word, "--gtest_filter=Counter.Alone")) return 0;
    return known_by[0] + 3;
}
"#;

#[test]
fn tests_of_googletest_are_explored_one_by_one() {
    let bench = Bench::new();
    let target = bench.build_text("counter", GOOGLETEST);
    let found = bench.explore("--seconds 30", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["exit-status"]), "{}", found.stderr);
    assert_eq!(found.stat("tests"), &Value::from(2));
    assert!(found.findings()[0]["notes"].to_string().contains("Counter.Counts"));
    assert_eq!(bench.replay("", found.schedule()).status, 66);
    // As one, or as the arguments say.
    let whole = bench.explore("--whole", &[&target]);
    assert!(whole.stderr.contains("created no thread"), "{}", whole.stderr);
    let alone = [target.as_str(), "--gtest_filter=Counter.Alone"];
    bench.explores_nothing(&alone, &["created no thread"]);
}
