//! The exit status of `raddle run`, which pipelines live by.

mod common;

use common::Bench;

#[test]
fn without_a_finding_it_is_the_targets() {
    let bench = Bench::with("race");
    for (then, status) in [("silent", 5), ("silent-abort", 134)] {
        let outcome = bench.run("", &["./race", then]);
        assert_eq!(outcome.status, status);
        assert_eq!(outcome.stat("target_status"), i64::from(status));
        assert!(outcome.findings().is_empty());
    }
}

#[test]
fn nothing_found_and_nothing_wrong_is_0_and_one_line() {
    let bench = Bench::with("locks");
    let output = bench.run_command("", &["./locks"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    assert!(common::stderr(&output).lines().count() <= 1, "{}", common::stderr(&output));
}

#[test]
fn with_a_finding_it_is_66_whatever_the_target_says() {
    let bench = Bench::with("race");
    for then in ["0", "5", "66"] {
        let outcome = bench.run("", &["./race", then]);
        outcome.assert_races(&["counter"]);
        assert_eq!(outcome.stat("target_status").to_string(), then);
    }
}

#[test]
fn exit_code_changes_it() {
    let bench = Bench::with("race");
    for code in [0, 1, 255] {
        let outcome = bench.run(&format!("--exit-code {code}"), &["./race", "5"]);
        assert_eq!(outcome.status, code);
        assert_eq!(outcome.variables(), ["counter"]);
    }
}

/// In hybrid mode a race that this run happened to order is suspected; `--fail-on confirmed` lets
/// it pass, reported.
#[test]
fn fail_on_confirmed_passes_what_is_suspected() {
    let bench = Bench::with("hidden");
    assert!(bench.run("", &["./hidden"]).findings().is_empty());

    let outcome = bench.run("--mode hybrid", &["./hidden"]);
    outcome.assert_races(&["hidden"]);
    assert_eq!(outcome.findings()[0]["confidence"], "suspected");

    let outcome = bench.run("--mode hybrid --fail-on confirmed", &["./hidden"]);
    assert_eq!(outcome.status, 5);
    assert_eq!(outcome.variables(), ["hidden"]);
}

#[test]
fn fail_on_confirmed_counts_what_is_confirmed() {
    let bench = Bench::with("race");
    bench.run("--fail-on confirmed", &["./race", "5"]).assert_races(&["counter"]);
}
