//! A failure is a thing you can keep: replayed, it comes back every time.

mod common;

use common::Bench;
use common::explore::within;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

/// Found once, replayed a hundred times, each in a process of its own.
#[track_caller]
fn comes_back(program: &str, kind: &str) {
    let bench = Bench::new();
    let target = bench.build_explored(program);
    let found = bench.explore("--seconds 60", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec![kind]), "{}", found.stderr);
    let again = bench.replay("--times 100", found.schedule());
    assert_eq!(again.status, 66, "{}", again.stderr);
    assert_eq!(again.kinds(), [kind]);
    assert_eq!((again.stat("times"), again.stat("reproduced")), (&Value::from(100), &Value::from(100)));
    assert_eq!(again.stat("diverged"), &Value::from(false));
    assert_eq!(again.findings()[0]["id"], found.findings()[0]["id"]);
}

/// The same schedule gives the same run on the carrier and on threads of the system: no step
/// differs. A file names a command: one that says to run something else, somewhere else, is not
/// simply believed.
#[test]
fn a_file_from_elsewhere_wants_trust() {
    let bench = Bench::new();
    let target = bench.build_explored("suite/check_then_act_bad.c");
    let found = bench.explore("--seconds 20", &[&target]);
    let own = bench.path(found.schedule());
    let text = std::fs::read_to_string(&own).unwrap();
    let folder = bench.path("").canonicalize().unwrap();
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let strange = bench.file("strange/x.raddle", &text.replace(&format!("\"{target}\""), "\"/bin/echo\""));
    let elsewhere = bench.file("elsewhere/x.raddle", &text.replacen(folder, "/usr", 1));
    let from = |file: &std::path::Path, folder: &str, options: &str| {
        let mut command = bench.raddle(&format!("replay {options}"));
        command.arg(file).current_dir(bench.path(folder)).env("TMPDIR", bench.session_folder());
        let output = command.output().unwrap();
        (output.status.code(), common::stderr(&output))
    };
    assert_eq!(from(&own, "", "").0, Some(66), "its own project");
    assert_eq!(from(&own, "strange", "").0, Some(66), "from anywhere");
    let (status, said) = from(&strange, "", "");
    assert_eq!(status, Some(2), "{said}");
    for part in ["runs `/bin/echo`", "not of this project", "--trust"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    let (_, said) = from(&strange, "", "--trust");
    assert!(!said.contains("--trust"), "{said}");
    assert!(from(&elsewhere, "", "--program check_then_act_bad").1.contains("not of this project"));
}

#[test]
fn both_back_ends_make_the_same_run() {
    for (program, kind) in [
        ("suite/philosophers_3_bad.c", "deadlock"),
        ("suite/lost_wakeup_bad.c", "deadlock"),
        ("suite/refcount_bad.c", "use-after-free"),
    ] {
        let bench = Bench::new();
        let target = bench.build_explored(program);
        let found = bench.explore("--seconds 60", &[&target]);
        assert_eq!((found.status, found.kinds()), (66, vec![kind]), "{program}: {}", found.stderr);
        let again = bench.replay("--os-threads --times 5", found.schedule());
        assert_eq!((again.status, again.kinds()), (66, vec![kind]), "{program}: {}", again.stderr);
        assert_eq!(again.stat("reproduced"), &Value::from(5), "{program}: {}", again.stderr);
        assert_eq!(again.stat("diverged"), &Value::from(false), "{program}");
        // And the other way round.
        let found = bench.explore("--os-threads --seconds 60", &[&target]);
        assert_eq!((found.status, found.kinds()), (66, vec![kind]), "{program}: {}", found.stderr);
    }
}

const FAILS_IN_EVERY_RUN: &str = r#"
#include <assert.h>
#include <pthread.h>
static long n;
static void *add(void *p) {
    n++;
    return p;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(n == 0);
    return 0;
}
"#;

/// The race makes raddle try the program with every access as a step, and it fails there. What the
/// C library writes to make a thread of the system is no step.
#[test]
fn a_run_with_all_accesses_as_steps_is_the_same_on_system_threads() {
    let bench = Bench::new();
    let target = bench.build_text("every", FAILS_IN_EVERY_RUN);
    let found = bench.explore("--seconds 60", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    let schedule = std::fs::read_to_string(bench.path(found.schedule())).unwrap();
    let handles = schedule.lines().filter(|step| step.starts_with("0 DataRead")).count();
    assert!(handles >= 3, "main reads three handles: {schedule}");
    let again = bench.replay("--os-threads --times 3", found.schedule());
    assert_eq!((again.status, again.kinds()), (66, vec!["assertion"]), "{}", again.stderr);
    assert_eq!(again.stat("diverged"), &Value::from(false), "{}", again.stderr);
}

#[test]
fn a_deadlock_comes_back() {
    comes_back("suite/philosophers_3_bad.c", "deadlock");
}

#[test]
fn an_assertion_on_racy_data_comes_back() {
    comes_back("suite/reorder_3_bad.c", "assertion");
}

#[test]
fn a_double_free_comes_back() {
    comes_back("suite/double_free_bad.c", "double-free");
}

const LOCAL_OF_MAIN: &str = r#"
#include <assert.h>
#include <pthread.h>
static void *add(void *p) {
    int *n = p, seen = *n;
    *n = seen + 1;
    return 0;
}
int main(void) {
    int n = 0;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, &n);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(n == 2);
    return 0;
}
"#;

/// A longer environment moves the stack of `main`; the steps on its locals are the same ones.
#[test]
fn another_environment_is_no_divergence() {
    let bench = Bench::new();
    let target = bench.build_text("local", LOCAL_OF_MAIN);
    let found = bench.explore("--seconds 60", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    for length in [0, 16, 1000] {
        let mut command = bench.raddle("replay --format json");
        command.arg(bench.path(found.schedule())).env("RADDLE_TEST_PADDING", "x".repeat(length));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{}", common::stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["stats"]["diverged"], Value::from(false), "{}", common::stderr(&output));
    }
}

const SLOT_BY_THREAD_ID: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int slots[61], n;
static void *add(void *p) {
    atomic_fetch_add(&slots[(unsigned long)pthread_self() / 4096 % 61], 1);
    int seen = n;
    n = seen + 1;
    return p;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(n == 2);
    return 0;
}
"#;

const CAREFUL_IF_TOLD: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int x;
static void *work(void *arg) {
    if (!getenv("CAREFUL")) x = 1;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    assert(x == 0);
    pthread_join(t, 0);
    return 0;
}
"#;

/// A test suite may take a variable away from a test, and so does the replay.
#[test]
fn a_variable_that_was_taken_away_stays_away() {
    let bench = Bench::new();
    let target = bench.build_text("careful", CAREFUL_IF_TOLD);
    let found = bench.explore("--seconds 60", &[&target]);
    let own = bench.path(found.schedule());
    let text = std::fs::read_to_string(&own).unwrap();
    let head = text.replacen("\"build_id\"", "\"unset\":[\"CAREFUL\"],\"build_id\"", 1);
    let unset = bench.file("unset.raddle", &head);
    let status = |file: &std::path::Path| {
        let mut command = bench.raddle("replay");
        command.arg(file).env("CAREFUL", "1").output().unwrap().status.code()
    };
    assert_eq!((status(&own), status(&unset)), (Some(0), Some(66)));
}

/// What a monitor needs of memory does not move the stacks of threads, which are their ids:
/// `std::barrier` goes by them.
#[test]
fn thread_ids_are_the_same_with_monitors_and_without() {
    let bench = Bench::new();
    let target = bench.build_text("slots", SLOT_BY_THREAD_ID);
    let found = bench.explore("--races --leaks --seconds 60", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    let again = bench.replay("--times 3", found.schedule());
    assert_eq!((again.status, again.stat("diverged")), (66, &Value::from(false)), "{}", again.stderr);
}

const TWO_STEPS: &str = r#"
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
static void *add(void *p) {
    pthread_mutex_lock(&m);
    int seen = n;
    pthread_mutex_unlock(&m);
    EXTRA
    pthread_mutex_lock(&m);
    n = seen + 1;
    pthread_mutex_unlock(&m);
    return p;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
"#;

#[test]
fn a_program_built_anew_is_named_and_so_is_the_first_step_that_differs() {
    let bench = Bench::new();
    let target = bench.build_text("p", &TWO_STEPS.replace("EXTRA", ""));
    let found = bench.explore("--seconds 60", &[&target]);
    assert_eq!(found.kinds(), ["assertion"], "{}", found.stderr);
    let file = found.schedule().to_owned();
    let other = "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);";
    bench.build_text("p", &TWO_STEPS.replace("EXTRA", other));
    let again = bench.replay("", &file);
    assert!(again.stderr.contains("was rebuilt after the schedule"), "{}", again.stderr);
    assert_eq!(again.stat("binary_changed"), &Value::from(true));
    assert_eq!(again.stat("diverged"), &Value::from(true));
    let told = format!("{} {}", again.stderr, again.report);
    assert!(told.contains("the replay left the schedule at step"), "{told}");
    assert!(told.contains("p.c:"), "{told}");
}

#[test]
fn a_program_that_was_mended_does_not_fail() {
    let bench = Bench::new();
    let target = bench.build_text("p", &TWO_STEPS.replace("EXTRA", ""));
    let file = bench.explore("--seconds 60", &[&target]).schedule().to_owned();
    bench.build_text("p", &TWO_STEPS.replace("EXTRA", "").replace("n = seen + 1", "n = n + 1"));
    let again = bench.replay("", &file);
    assert_eq!((again.status, again.kinds().len()), (0, 0), "{}", again.stderr);
    assert!(again.stderr.contains("the failure did not come back"), "{}", again.stderr);
}

#[test]
fn the_trace_has_a_row_for_each_thread() {
    let bench = Bench::new();
    let target = bench.build_text("p", &TWO_STEPS.replace("EXTRA", ""));
    let file = bench.explore("--seconds 60", &[&target]).schedule().to_owned();
    assert_eq!(bench.replay("--trace trace.json", &file).status, 66);
    let trace: Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let names: Vec<_> =
        events.iter().filter(|e| e["ph"] == "M").map(|e| e["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["T0 (main)", "T1 (add)", "T2 (add)"]);
    let locks = events.iter().filter(|e| e["name"] == "locks L1 `m`").count();
    assert!(locks >= 3, "{trace}");
}

#[test]
fn gdb_opens_at_the_failure() {
    let bench = Bench::new();
    let target = bench.build_text("p", &TWO_STEPS.replace("EXTRA", ""));
    let file = bench.explore("--seconds 60", &[&target]).schedule().to_owned();
    let script =
        bench.file("commands", "raddle-from-start\nraddle-next-switch\nraddle-next-switch\nkill\nquit\n");
    let mut command = bench.raddle("replay --gdb");
    command
        .arg(&file)
        .env("TMPDIR", bench.session_folder())
        .stdin(Stdio::from(std::fs::File::open(script).unwrap()));
    let output = within(Duration::from_secs(300), &mut command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("SIGTRAP") && said.contains("p.c:22"), "{said}");
    // The backtrace has the program's own frames, and the innermost is selected.
    let (failure, _) = said.split_once("Temporary breakpoint 1").unwrap_or((&said, ""));
    let frames: Vec<_> = failure.lines().filter(|line| line.starts_with('#')).collect();
    assert!(frames.iter().all(|frame| !frame.contains("raddle_rt::")), "{said}");
    assert!(frames.last().is_some_and(|selected| selected.contains("p.c:22")), "{said}");
    // The program runs again, and stops in the runtime's switch: to the main thread, and from it.
    let after = said.split("Temporary breakpoint 1, main").nth(1);
    let after = after.unwrap_or_else(|| panic!("not from the start: {said}"));
    assert!(after.contains("explore::switch::switch"), "{said}");
    let frames: Vec<_> = after.lines().filter(|line| line.starts_with('#')).collect();
    assert!(!frames.is_empty() && frames.iter().all(|frame| frame.contains("p.c:")), "{said}");
}

/// As the debuggers of editors do it: gdb is silent until told, speaks MI, and is told the program
/// once more.
#[test]
fn a_front_end_of_gdb_opens_at_the_failure() {
    let bench = Bench::new();
    let target = bench.build_text("p", &TWO_STEPS.replace("EXTRA", ""));
    let file = bench.explore("--seconds 60", &[&target]).schedule().to_owned();
    let program = format!("1-file-exec-and-symbols {}\n", bench.path("p").display());
    let orders = "2-exec-arguments\n3-exec-run\n4-stack-list-frames\n5-gdb-exit\n";
    let orders = bench.file("orders", &(program + orders));
    let mut command = bench.raddle("replay --gdb");
    command
        .arg(&file)
        .args(["--", "--interpreter=mi"])
        .env("TMPDIR", bench.session_folder())
        .stdin(Stdio::from(std::fs::File::open(orders).unwrap()));
    let output = within(Duration::from_secs(300), &mut command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("3^running") && said.contains("signal-name=\"SIGTRAP\""), "{said}");
    let frames = said.lines().find(|line| line.starts_with("4^done"));
    assert!(frames.is_some_and(|frames| frames.contains("line=\"22\"")), "{said}");
}

#[test]
fn files_that_are_no_schedules_are_refused() {
    let bench = Bench::new();
    let refuse = |name: &str, content: Option<&[u8]>, part: &str| {
        if let Some(content) = content {
            std::fs::File::create(bench.path(name)).unwrap().write_all(content).unwrap();
        }
        let sentence = common::refused(bench.raddle("replay").arg(name));
        assert!(sentence.contains(part), "{sentence}");
    };
    refuse("absent.raddle", None, "cannot read absent.raddle");
    refuse("empty.raddle", Some(b""), "not a schedule");
    refuse("binary.raddle", Some(b"\xff\xfe\x00"), "not a schedule");
    refuse("new.raddle", Some(b"{\"format\":\"raddle.schedule\",\"version\":9}\n"), "newer raddle");
}
