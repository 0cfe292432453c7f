//! Memory limits and numbers that run out: the detector forgets, says so, and stays right.

mod common;

use common::Bench;

#[test]
fn over_the_memory_limit_state_is_flushed_and_races_are_still_found() {
    let bench = Bench::with("memory");
    let outcome = bench.run("--memory-limit 200M", &["./memory"]);
    outcome.assert_races(&["late"]);
    assert!(outcome.stat("flushes") > 0);
}

#[test]
fn below_the_limit_nothing_is_flushed() {
    let bench = Bench::with("race");
    assert_eq!(bench.run("--memory-limit 200M", &["./race"]).stat("flushes"), 0);
}

/// Each unlock begins an epoch; a number of 16 bits has not enough of them.
#[test]
fn six_million_unlocks_are_silent_when_correct() {
    let bench = Bench::with("locks");
    let outcome = bench.run("", &["./locks"]);
    assert!(outcome.findings().is_empty(), "{:#}", outcome.report["findings"]);
    assert_eq!(outcome.status, 0);
    assert!(outcome.stat("flushes") >= 1);
}

/// More threads than the shadow has numbers for, one after the other and correct.
#[test]
fn a_thousand_threads() {
    let bench = Bench::new();
    bench.file(
        "many.c",
        "#include <pthread.h>\nstatic int sum;\n\
         static void *add(void *p) { sum++; return p; }\n\
         int main(void) {\n\
             for (int i = 0; i < 1000; i++) { pthread_t t; pthread_create(&t, 0, add, 0); pthread_join(t, 0); }\n\
             return sum == 1000 ? 0 : 1;\n\
         }\n",
    );
    bench.ok("cc --use gcc -g -O1 -pthread many.c -o many");
    let outcome = bench.run("", &["./many"]);
    assert_eq!((outcome.status, outcome.findings().len()), (0, 0));
    assert_eq!((outcome.stat("threads"), outcome.stat("threads_untracked")), (1001, 0));
}
