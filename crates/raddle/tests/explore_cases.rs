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
    assert_eq!(found.findings()[0]["accesses"][0]["stack"][0]["file"], "queue.rs");
    assert!(
        found.findings()[0]["message"].to_string().contains("left: 1; right: 2"),
        "{found:?}",
        found = found.findings()[0]["message"]
    );
    // The file runs that test alone.
    let again = bench.replay("--times 3", found.schedule());
    assert_eq!(again.status, 66, "{}", again.stderr);
    assert!(again.stderr.contains("3 of 3"), "{}", again.stderr);
}

/// A `Mutex` that is released too early, and an `RwLock`.
const UNOPTIMISED: &str = r#"
use std::sync::{Mutex, RwLock};
static COUNT: Mutex<u32> = Mutex::new(0);
static LIMIT: RwLock<u32> = RwLock::new(2);
fn add() {
    let seen = *COUNT.lock().unwrap();
    *COUNT.lock().unwrap() = seen + 1;
    assert!(seen < *LIMIT.read().unwrap());
}
fn main() {
    let threads = [std::thread::spawn(add), std::thread::spawn(add)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*COUNT.lock().unwrap(), 2);
}
"#;

/// `cargo test` builds like this: atomic operations are functions that all of them share.
#[test]
fn locks_of_unoptimised_rust_are_locks() {
    let bench = Bench::new();
    bench.file("count.rs", UNOPTIMISED);
    bench.ok("rustc --edition 2021 -g count.rs -o count");
    let found = bench.explore("--seconds 60", &["./count"]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    let rows = found.findings()[0]["interleaving"]["rows"].as_array().unwrap();
    let of_count = |word: &str| rows.iter().filter(|r| r["text"].as_str() == Some(word)).count();
    let told = format!("{rows:#?}");
    assert!(of_count("locks L1 `count::COUNT`") >= 2 && of_count("unlocks L1 `count::COUNT`") >= 2, "{told}");
    assert!(!told.contains("updates `count::COUNT`"), "{told}");
    // Of several steps of one call there is one row.
    assert!(!told.contains("`count::LIMIT`") || told.contains("calls `RwLock::read`"), "{told}");
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
    assert_eq!(found.stat("tests_ignored_names"), &Value::from("Counter.DISABLED_Broken"));
    assert!(found.findings()[0]["notes"].to_string().contains("Counter.Counts"));
    assert_eq!(bench.replay("", found.schedule()).status, 66);
    // As one, or as the arguments say.
    let whole = bench.explore("--whole", &[&target]);
    assert!(whole.stderr.contains("created no thread"), "{}", whole.stderr);
    let alone = [target.as_str(), "--gtest_filter=Counter.Alone"];
    bench.explores_nothing(&alone, &["created no thread"]);
}

const HARNESS: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::Arc;
    use std::thread;

    fn adds_twice() -> u32 {
        let a = Arc::new(AtomicU32::new(0));
        let b = a.clone();
        let add = |a: &AtomicU32| {
            let seen = a.load(SeqCst);
            a.store(seen + 1, SeqCst);
        };
        let t = thread::spawn(move || add(&b));
        add(&a);
        t.join().unwrap();
        a.load(SeqCst)
    }

    #[test]
    fn alone() {
        assert_eq!(1 + 1, 2);
    }

    #[test]
    fn in_one() {
        assert_eq!(adds_twice(), 2, "one");
    }

    #[test]
    fn in_the_thread() {
        let t = thread::spawn(|| assert!(adds_twice() == 2));
        t.join().expect("the thread panicked");
    }

    #[test]
    fn in_three() {
        assert_eq!(adds_twice(), 2, "three");
    }

    #[test]
    fn right() {
        thread::spawn(|| ()).join().unwrap();
    }
}
"#;

#[test]
fn the_harness_is_not_the_program_and_each_failing_test_is_a_finding() {
    let bench = Bench::new();
    bench.file("harness.rs", HARNESS);
    bench.ok("rustc --edition 2021 --test -g -Copt-level=1 harness.rs -o harness");
    let found = bench.explore("--schedules 300 --seconds 60", &["./harness"]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"; 3]), "{}", found.stderr);
    let said: Vec<String> = found.findings().iter().map(|f| f["message"].to_string()).collect();
    let texts = ["one; left: 1; right: 2", "three; left: 1; right: 2", "assertion failed: adds_twice() == 2"];
    assert!(texts.iter().all(|t| said.iter().any(|s| s.contains(t))), "{said:?}");
    let stat = |key: &str| found.stat(key).clone();
    assert_eq!(stat("tests"), Value::from(5));
    assert_eq!(stat("tests_without_threads_names"), Value::from("tests::alone"));
    assert_eq!(stat("tests_to_the_end_names"), Value::from("tests::right"));
    assert_eq!((stat("tests_in_part"), stat("tests_not_reached")), (Value::from(3), Value::from(0)));
    let keys = ["to_the_end", "in_part", "without_threads", "could_not", "not_reached"];
    let all: u64 = keys.iter().map(|k| stat(&format!("tests_{k}")).as_u64().unwrap()).sum();
    assert_eq!(all, 5, "{}", found.report["stats"]);
    // A rerun writes the same files again.
    let files = || {
        let all = std::fs::read_dir(bench.path(".")).unwrap().map(|e| e.unwrap().path());
        all.filter(|p| p.extension().is_some_and(|e| e == "raddle")).count()
    };
    let before = files();
    bench.explore("--schedules 300 --seconds 60", &["./harness"]);
    assert_eq!((before, files()), (3, 3));
    // A test that arguments choose is explored without the harness too.
    bench.explores_nothing(&["./harness", "--exact", "tests::alone"], &["created no thread"]);
}

#[test]
fn tests_that_are_not_reached_are_named() {
    let bench = Bench::new();
    bench.file("harness.rs", HARNESS);
    bench.ok("rustc --edition 2021 --test -g -Copt-level=1 harness.rs -o harness");
    let said = bench.explore_command("--seconds 0.001", &["./harness"]).output().unwrap();
    // How far it comes in no time is luck. Where it comes to nothing, that is no answer.
    assert!(matches!(said.status.code(), Some(0 | 2)), "{said:?}");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("5 tests: ") && said.contains("not reached") && said.contains("tests::right"),
        "{said}"
    );
}

const IGNORED: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn quick() {
        thread::spawn(|| ()).join().unwrap();
    }

    #[test]
    #[ignore]
    fn slow() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let add = || COUNT.store(COUNT.load(SeqCst) + 1, SeqCst);
        let t = thread::spawn(add);
        add();
        t.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 2, "lost");
    }
}
"#;

#[test]
fn ignored_tests_are_said_to_be_left_out_and_taken_in_on_request() {
    let bench = Bench::new();
    bench.file("ignored.rs", IGNORED);
    bench.ok("rustc --edition 2021 --test -g -Copt-level=1 ignored.rs -o ignored");
    let left_out = bench.explore("--seconds 60", &["./ignored"]);
    assert_eq!((left_out.status, left_out.findings().len()), (0, 0), "{}", left_out.stderr);
    assert_eq!(left_out.stat("tests_ignored_names"), &Value::from("tests::slow"));
    let taken_in = bench.explore("--seconds 60 --include-ignored", &["./ignored"]);
    assert_eq!((taken_in.status, taken_in.kinds()), (66, vec!["assertion"]), "{}", taken_in.stderr);
    assert_eq!(taken_in.stat("tests_ignored"), &Value::from(0));

    let said = |line: &str| {
        let output = bench.raddle(line).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for command in ["hunt", "conseq"] {
        let (status, report) = said(&format!("{command} --seconds 20 -- ./ignored"));
        let is_said = report.contains("1 test is ignored: --include-ignored takes them in");
        assert!(status == Some(0) && is_said, "{command}: {report}");
    }
    let (status, report) = said("hunt --seconds 30 --include-ignored -- ./ignored");
    assert!(status == Some(66) && report.contains("lost") && !report.contains("is ignored"), "{report}");
}
