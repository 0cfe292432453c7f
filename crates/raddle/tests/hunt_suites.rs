//! `raddle hunt` of commands that start several programs or tests.

mod common;
mod hunting;

use common::{Bench, refused, stderr, succeed};
use hunting::{ONE_AFTER_THE_OTHER, RACE, built, findings, hunt};
use serde_json::Value;

#[test]
fn a_command_that_starts_programs_is_hunted_program_by_program() {
    let bench = Bench::new();
    let only_there = "if (!getenv(\"CASE\") || access(\"data\", R_OK)) return 0;\n    pthread_t a, b;";
    let race = RACE.replace("pthread_t a, b;", only_there);
    built(&bench, "race", &format!("#include <stdlib.h>\n#include <unistd.h>\n{race}"));
    built(&bench, "none", "int main(void) { return 0; }");
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.file("sub/data", "");
    bench.file("check.sh", "./none\ncd sub\nCASE=7 ../race\n");
    let (output, report) = hunt(&bench, "--seconds 120 -- sh check.sh");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let found = findings(&report);
    assert_eq!((found.len(), &found[0]["location"]["name"]), (1, &"bare".into()), "{report:#}");
    let said = report["coverage"].to_string();
    assert!(said.contains("2 tests: "), "{said}");
    // The schedule knows the folder and the variables that the script has set.
    let schedule = found[0]["schedule"].as_str().unwrap();
    let again = bench.raddle(&format!("replay {schedule}")).output().unwrap();
    assert_eq!(again.status.code(), Some(66), "{}", stderr(&again));
}

/// What it does in the run that shows the programs that a command starts, and once more in the
/// look, is all there is to see.
#[test]
fn a_program_of_a_suite_that_starts_no_thread_is_run_once_and_not_searched() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let counts = "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"runs\", \"a\"); fputc('x', f); fclose(f); \
                  return 0; }";
    built(&bench, "none", counts);
    bench.file("check.sh", "./none\n./race\n");
    let (_, report) = hunt(&bench, "--seconds 60 -- sh check.sh");
    assert_eq!(findings(&report).len(), 1, "{report:#}");
    assert_eq!(std::fs::read_to_string(bench.path("runs")).unwrap(), "xx", "{report:#}");
}

#[test]
fn what_two_tests_suspect_of_one_cause_is_one_suspicion() {
    let bench = Bench::new();
    built(&bench, "ordered", ONE_AFTER_THE_OTHER);
    bench.file("both.sh", "./ordered\n./ordered again\n");
    let (_, report) = hunt(&bench, "--seconds 60 --suspects -- sh both.sh");
    assert_eq!(report["stats"]["hunted"], 2, "{report:#}");
    let suspects = report["suspects"].as_array().unwrap();
    let cycles: Vec<&Value> = suspects.iter().filter(|s| s["kind"] == "lock-order").collect();
    assert_eq!(cycles.len(), 1, "{report:#}");
    let notes = cycles[0]["notes"].to_string();
    assert!(notes.contains("suspected by `run` in `ordered") && notes.contains("`ordered again`"), "{notes}");
    assert_eq!(report["stats"]["suspicions"], suspects.len(), "{report:#}");
}

/// The commands that `cargo nextest run` gives: it asks a test program for its tests, twice, and
/// then runs each test that its filter leaves by a process of its own.
#[test]
fn the_tests_that_nextest_runs_are_hunted_with_its_variables() {
    let bench = Bench::new();
    let only_there = "if (!getenv(\"NEXTEST\")) return 0;\n    pthread_t a, b;";
    built(&bench, "t", &format!("#include <stdlib.h>\n{}", RACE.replace("pthread_t a, b;", only_there)));
    let asks = "./t --list --format terse\n./t --list --format terse --ignored\n";
    bench.file("nextest.sh", &format!("{asks}NEXTEST=1 ./t --exact counts --nocapture\n"));
    let (output, report) = hunt(&bench, "--seconds 60 -- sh nextest.sh");
    assert_eq!(output.status.code(), Some(66), "{report:#}");
    assert_eq!((&report["stats"]["hunted"], &report["stats"]["without_threads"]), (&1.into(), &0.into()));
    assert_eq!(findings(&report)[0]["location"]["name"], "bare", "{report:#}");
}

#[test]
fn what_has_changed_comes_first_and_an_unknown_revision_is_refused() {
    let bench = Bench::new();
    let git = |line: &str| {
        let mut words = vec!["-c", "user.name=a", "-c", "user.email=a@b"];
        words.extend(line.split(' '));
        succeed(bench.command("git").args(words))
    };
    git("init -q");
    bench.file("race.c", RACE);
    git("add race.c");
    git("commit -qm one");
    built(&bench, "race", &RACE.replace("int guarded, bare;", "int guarded, bare; "));
    let (output, report) = hunt(&bench, "--seconds 60 --since HEAD -- ./race");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let said = report["coverage"].to_string();
    assert!(said.contains("changed since HEAD: suspicions in changed lines came first"), "{said}");
    assert!(refused(&mut bench.raddle("hunt --since no-such -- ./race")).contains("git does not say"));
}
