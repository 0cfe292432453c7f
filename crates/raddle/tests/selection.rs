//! Suppressions, ignored places, `TSAN_OPTIONS` and baselines: findings that somebody does not want
//! to hear of.

mod common;

use common::Bench;
use common::run::DetectedRun;

/// Nothing is left to report, and the status is the target's own, 5.
#[track_caller]
fn assert_passes(outcome: &DetectedRun) {
    assert!(outcome.findings().is_empty(), "{:#}", outcome.report["findings"]);
    assert_eq!(outcome.status, 5, "{}", outcome.stderr);
}

#[test]
fn suppressions_by_function_file_and_variable() {
    let bench = Bench::with("race");
    for rule in ["race:bump", "race:race.c", "race:^counter$", "race_top:^bump$", "race:*"] {
        bench.file("rules", &format!("# known\n{rule}\n"));
        let outcome = bench.run("--suppressions rules", &["./race", "5"]);
        assert_passes(&outcome);
        assert_eq!(outcome.stat("suppressed"), 1, "{rule}");
    }
    for rule in ["race:other", "race_top:main", "deadlock:bump", "race:^ump"] {
        bench.file("rules", &format!("{rule}\n"));
        let outcome = bench.run("--suppressions rules", &["./race", "5"]);
        outcome.assert_races(&["counter"]);
        assert_eq!(outcome.stat("suppressed"), 0, "{rule}");
    }
}

#[test]
fn several_suppression_files_add_up() {
    let bench = Bench::with("race");
    bench.file("one", "race:^counter$\n");
    bench.file("two", "race:^newer$\n");
    bench.run("--suppressions one", &["./race", "newer"]).assert_races(&["newer"]);
    let outcome = bench.run("--suppressions one --suppressions two", &["./race", "newer"]);
    assert_eq!((outcome.status, outcome.stat("suppressed")), (0, 2));
}

#[test]
fn suppressions_of_lock_order() {
    let bench = Bench::with("order");
    let outcome = bench.run("", &["./order"]);
    assert_eq!(outcome.status, 66);
    assert_eq!(outcome.findings()[0]["kind"], "lock-order");

    bench.file("rules", "race:forwards\n");
    assert_eq!(bench.run("--suppressions rules", &["./order"]).status, 66, "another kind");
    bench.file("rules", "deadlock:forwards\n");
    assert_passes(&bench.run("--suppressions rules", &["./order"]));
    assert_passes(&bench.run("--no-lock-order", &["./order"]));
}

#[track_caller]
fn with_tsan_options(bench: &Bench, value: &str, options: &str, command: &[&str]) -> DetectedRun {
    let mut run = bench.run_command(&format!("--format json -o report.json {options}"), command);
    bench.outcome(run.env("TSAN_OPTIONS", value).output().unwrap())
}

#[test]
fn tsan_options_keep_their_meaning() {
    let bench = Bench::with("race");
    bench.build("order");
    bench.file("rules", "race:^counter$\n");
    let outcome = with_tsan_options(&bench, "suppressions=rules:exitcode=7", "", &["./race", "5"]);
    assert_passes(&outcome);
    let outcome = with_tsan_options(&bench, "suppressions=rules:exitcode=7", "", &["./race", "newer"]);
    assert_eq!((outcome.status, outcome.variables()), (7, vec!["newer"]));
    let outcome = with_tsan_options(&bench, "halt_on_error=1 exitcode=7", "--exit-code 8", &["./race"]);
    assert_eq!(outcome.status, 8, "the command line wins");
    assert_passes(&with_tsan_options(&bench, "detect_deadlocks=0", "", &["./order"]));
}

#[test]
fn ignored_functions_files_and_modules() {
    let bench = Bench::with("race");
    for pattern in ["fun:bump", "fun:b*mp", "file:race.c", "file:*/race.c", "module:race"] {
        assert_passes(&bench.run(&format!("--ignore {pattern}"), &["./race", "5"]));
    }
    for pattern in ["fun:ump", "fun:bump_newer", "file:ace.c", "module:rac"] {
        bench.run(&format!("--ignore {pattern}"), &["./race", "5"]).assert_races(&["counter"]);
    }
    bench.run("--ignore fun:bump", &["./race", "newer"]).assert_races(&["newer"]);
    let both = bench.run("--ignore fun:bump --ignore fun:bump_newer", &["./race", "newer"]);
    assert_eq!((both.status, both.findings().len()), (0, 0));
}

#[test]
fn ignored_places_of_a_shared_library() {
    let bench = Bench::new();
    bench.source("library");
    bench.source("host");
    bench.ok("cc --use gcc -g -O1 -shared -fPIC -pthread library.c -o library.so");
    bench.ok("cc --use gcc -g -O1 host.c -o host");
    bench.run("", &["./host", "./library.so"]).assert_races(&["of_library"]);
    for pattern in ["fun:bump_in_library", "file:library.c", "module:library.so"] {
        let outcome = bench.run(&format!("--ignore {pattern}"), &["./host", "./library.so"]);
        assert_eq!((outcome.status, outcome.findings().len()), (0, 0), "{pattern}");
    }
    bench.run("--ignore module:host", &["./host", "./library.so"]).assert_races(&["of_library"]);
}

#[test]
fn a_baseline_passes_what_is_known_and_only_that() {
    let bench = Bench::with("race");
    let first = bench.run("--write-baseline known.json", &["./race", "5"]);
    let known: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("known.json")).unwrap()).unwrap();
    assert_eq!(known["schema"], "raddle.baseline/1");
    assert_eq!(known["findings"][0]["id"], first.findings()[0]["id"]);

    let again = bench.run("--baseline known.json", &["./race", "5"]);
    assert_passes(&again);
    assert_eq!(again.stat("baseline"), 1);

    let more = bench.run("--baseline known.json", &["./race", "newer"]);
    more.assert_races(&["newer"]);
    assert_eq!(more.stat("baseline"), 1);

    let text = std::fs::read_to_string(bench.path("known.json")).unwrap();
    bench.run("--baseline known.json --write-baseline known.json", &["./race", "newer"]);
    let grown = std::fs::read_to_string(bench.path("known.json")).unwrap();
    assert_eq!(grown.lines().count(), text.lines().count() + 1, "both are known now: {grown}");
    assert_eq!(bench.run("--baseline known.json", &["./race", "newer"]).status, 0);
}
