//! `raddle hunt` as its users see it: what it confirms, how it words it, and requests that make no sense.

mod common;
mod hunting;

use common::{Bench, refused, stderr, succeed};
use hunting::{ONE_AFTER_THE_OTHER, RACE, built, covered, findings, hunt};
use std::path::Path;

#[test]
fn a_race_is_confirmed_explained_and_can_be_replayed() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let (output, report) = hunt(&bench, "--seconds 60 --seed 1 -- ./race");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let found = findings(&report);
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!((&found[0]["kind"], &found[0]["confidence"]), (&"data-race".into(), &"confirmed".into()));
    assert_eq!(found[0]["location"]["name"], "bare");
    let by: Vec<&str> =
        found[0]["detectors"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
    assert!(by.contains(&"run") && by.contains(&"explore"), "{by:?}");
    let why = found[0]["explanation"].as_str().unwrap();
    assert!(why.contains("Neither thread holds a lock") && why.contains("`bare`"), "{why}");
    let schedule = found[0]["schedule"].as_str().unwrap();
    let again = bench.raddle(&format!("replay {schedule}")).output().unwrap();
    assert_eq!(again.status.code(), Some(66), "{}", stderr(&again));
}

#[test]
fn a_source_file_is_built_checked_and_hunted() {
    let bench = Bench::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bank/bank.c");
    let (output, report) = hunt(&bench, &format!("--seconds 90 {}", source.display()));
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let found = findings(&report);
    let race = found.iter().find(|f| f["kind"] == "data-race").unwrap_or_else(|| panic!("{report:#}"));
    assert!(race["detectors"].to_string().contains("check"), "{}", race["detectors"]);
    let deadlock = found.iter().find(|f| f["kind"] == "deadlock").unwrap_or_else(|| panic!("{report:#}"));
    let why = deadlock["explanation"].as_str().unwrap();
    assert!(why.contains("take `alice` and `bob` in one order everywhere"), "{why}");
    let text = "int main(void) { return missing(; }";
    bench.file("broken.c", text);
    let broken = bench.raddle("hunt broken.c").output().unwrap();
    assert_eq!(broken.status.code(), Some(2), "{}", stderr(&broken));
}

#[test]
fn what_is_not_instrumented_says_which_verdicts_that_allows() {
    let bench = Bench::new();
    bench.file("plain.c", RACE);
    succeed(bench.command("cc").args(["-pthread", "plain.c", "-o", "plain"]));
    let (output, report) = hunt(&bench, "--seconds 60 --suspects -- ./plain");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = report["coverage"].to_string();
    for part in
        ["is not instrumented", "a copy of its machine code", "a race in it stays open", "`raddle cc`"]
    {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    let open = report["suspects"].as_array().unwrap();
    assert!(open.iter().any(|s| s["kind"] == "data-race"), "{report:#}");
    // A shell is there to start others, so it is not copied.
    let (_, report) = hunt(&bench, "--seconds 60 -- /bin/sh -c ./plain");
    let said = report["coverage"].to_string();
    for part in ["is not instrumented", "accesses to memory are not seen", "nothing is refuted"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn a_deadlock_of_a_program_that_is_not_instrumented_is_found() {
    let bench = Bench::new();
    let at_once = ONE_AFTER_THE_OTHER.replace("while (!is_ready)", "while (0)");
    bench.file("plain.c", &at_once);
    succeed(bench.command("cc").args(["-g", "-pthread", "plain.c", "-o", "plain"]));
    let (output, report) = hunt(&bench, "--seconds 60 -- ./plain");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert_eq!(findings(&report)[0]["kind"], "deadlock", "{report:#}");
}

/// Threads are switched at accesses of the machine code too.
#[test]
fn a_lost_update_of_a_program_that_is_not_instrumented_is_confirmed() {
    let bench = Bench::new();
    let text = "#include <assert.h>\n#include <pthread.h>\nint counter;\n\
        static void *add(void *p) { counter++; return p; }\n\
        int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, add, 0);\n    pthread_create(&b, 0, add, 0);\n    \
        pthread_join(a, 0);\n    pthread_join(b, 0);\n    assert(counter == 2);\n    return 0;\n}\n";
    bench.file("plain.c", text);
    succeed(bench.command("cc").args(["-g", "-O1", "-pthread", "plain.c", "-o", "plain"]));
    let (output, report) = hunt(&bench, "--seconds 60 -- ./plain");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert!(
        findings(&report).iter().any(|f| f["kind"] == "assertion" && f["confidence"] == "confirmed"),
        "{report:#}"
    );
}

#[test]
fn nothing_to_interleave_is_said_for_what_it_is() {
    let bench = Bench::new();
    built(&bench, "none", "int main(void) { return 0; }");
    let (code, said) = covered(&bench, "--seconds 60 -- ./none");
    assert!(code == Some(0) && said.contains("it created no thread with these arguments"), "{said}");
    assert!(said.contains("--stdin FILE"), "{said}");

    let one = "#include <pthread.h>\nstatic void *work(void *p) { return p; }\n\
        int main(void) { pthread_t a; pthread_create(&a, 0, work, 0); pthread_join(a, 0); return 0; }";
    built(&bench, "one", one);
    let (code, said) = covered(&bench, "--seconds 60 -- ./one");
    assert!(code == Some(0) && said.contains("it has one schedule") && !said.contains("no thread"), "{said}");

    let child = one
        .replace("pthread.h>", "pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>")
        .replace("pthread_t a;", "pthread_t a; if (fork()) { wait(0); return 0; }");
    built(&bench, "child", &child);
    let (code, said) = covered(&bench, "--seconds 60 -- ./child");
    assert!(code == Some(0) && said.contains("only a child process of it creates threads"), "{said}");
}

#[test]
fn a_handler_that_interrupts_the_only_thread_is_hunted() {
    let bench = Bench::new();
    let source = "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\n\
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        static void ring(int n) { (void)n; pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }\n\
        int main(void) { signal(SIGALRM, ring); alarm(1); pthread_mutex_lock(&lock);\n\
        pthread_mutex_unlock(&lock); alarm(0); return 0; }";
    built(&bench, "rings", source);
    let (output, report) = hunt(&bench, "--seconds 40 -- ./rings");
    assert_eq!(output.status.code(), Some(66), "{report}");
    assert_eq!(findings(&report)[0]["kind"], "deadlock", "{report}");
}

#[test]
fn a_program_that_never_ends_or_a_hunt_that_is_interrupted_has_not_been_found_clean() {
    let bench = Bench::new();
    built(&bench, "hang", "#include <unistd.h>\nint main(void) { for (;;) pause(); }");
    let (code, said) = covered(&bench, "--seconds 6 -- ./hang");
    assert!(code == Some(2) && said.contains("came to its end in no run"), "{code:?} {said}");

    built(&bench, "slow", &ONE_AFTER_THE_OTHER.replace("is_ready = 1;", "for (int i = 0; i < 50; i++) { pthread_mutex_unlock(&lock); pthread_mutex_lock(&lock); } is_ready = 1;"));
    let mut command = bench.raddle("hunt --minutes 5 -- ./slow");
    let mut hunt = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(hunt.stderr.take().unwrap()));
    let begun = lines.find(|l| l.as_ref().is_ok_and(|l| l.contains("ran it once")));
    assert!(begun.is_some());
    succeed(bench.command("kill").args(["-INT", &hunt.id().to_string()]));
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(hunt.wait().unwrap().code(), Some(2), "{rest:#?}");
    assert!(rest.iter().any(|l| l.contains("interrupted: what is said here")), "{rest:#?}");
}

#[test]
fn a_crash_in_every_run_is_a_finding_with_threads_and_without() {
    let bench = Bench::new();
    built(&bench, "alone", "int main(void) { volatile int *none = 0; *none = 1; return 0; }");
    let thread = "#include <pthread.h>\n#include <stdlib.h>\nstatic void *work(void *p) { WRONG; return p; }\n\
        int main(void) { pthread_t a; pthread_create(&a, 0, work, 0); pthread_join(a, 0); return 0; }";
    built(&bench, "segv", &thread.replace("WRONG", "*(volatile int *)0 = 1"));
    built(&bench, "abort", &thread.replace("WRONG", "abort()"));
    for program in ["alone", "segv", "abort"] {
        let (output, report) = hunt(&bench, &format!("--seconds 60 -- ./{program}"));
        assert_eq!(output.status.code(), Some(66), "{program}: {}", stderr(&output));
        let kinds: Vec<&str> = findings(&report).iter().map(|f| f["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["crash"], "{program}: {report:#}");
    }
}

#[test]
fn every_execution_reads_the_same_input_and_a_replay_too() {
    let bench = Bench::new();
    let reads = RACE
        .replace("#include <pthread.h>", "#include <pthread.h>\n#include <stdio.h>")
        .replace("pthread_t a, b;", "pthread_t a, b; if (getchar() != 'x') return 4;");
    built(&bench, "reads", &reads);
    bench.file("input", "xyz");
    let (code, said) = covered(&bench, "--seconds 5 -- ./reads");
    assert!(code == Some(0) && said.contains("it ends with status 4 in every ordinary run"), "{said}");
    let (output, report) = hunt(&bench, "--seconds 60 --stdin input -- ./reads");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    let schedule = findings(&report)[0]["schedule"].as_str().unwrap();
    let again = bench.raddle(&format!("replay {schedule}")).output().unwrap();
    assert_eq!(again.status.code(), Some(66), "{}", stderr(&again));
    let input = || std::fs::File::open(bench.path("input")).unwrap();
    let redirected = bench.raddle("hunt --seconds 60 -- ./reads").stdin(input()).output().unwrap();
    assert_eq!(redirected.status.code(), Some(66), "{}", stderr(&redirected));
    assert!(refused(&mut bench.raddle("hunt --stdin missing -- ./reads")).contains("missing"));
}

/// Waits behind an `if`, so a wake-up without a signal lets it go on too early.
const WAIT_WITHOUT_LOOP: &str = r#"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;
static void *consumer(void *p) {
    pthread_mutex_lock(&m);
    if (items == 0)
        pthread_cond_wait(&c, &m);
    assert(items > 0);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, consumer, 0);
    pthread_mutex_lock(&m);
    items = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
"#;

/// The signal may come before the wait, and two threads are joined one after the other.
const LOST_WAKE_UP: &str = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *waiter(void *p) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return p;
}
static void *waker(void *p) {
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, waker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_paragraph_names_the_cause_and_there_is_one_finding_a_cause() {
    let bench = Bench::new();
    bench.file("if.c", WAIT_WITHOUT_LOOP);
    bench.file("lost.c", LOST_WAKE_UP);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/control");
    let rust = corpus.join("rust_mutex_order_bad.rs");
    let sleep = corpus.join("sleep_order_bad.c");
    for (source, kind, said) in [
        ("if.c", "assertion", ["comes back without a signal", "wait in a `while` loop"]),
        ("lost.c", "deadlock", ["before T1 (waiter) waits, and", "keep what is waited for in a variable"]),
        (
            rust.to_str().unwrap(),
            "deadlock",
            ["holds L1 (taken at rust_mutex_order_bad.rs:", "in one order everywhere"],
        ),
        (sleep.to_str().unwrap(), "assertion", ["sleeps (sleep_order_bad.c:", "it relies on timing"]),
    ] {
        // All schedules of this one take longer than a test should.
        let seconds = if source.ends_with(".rs") { 25 } else { 75 };
        let (output, report) = hunt(&bench, &format!("--seconds {seconds} {source}"));
        assert_eq!(output.status.code(), Some(66), "{source}: {}", stderr(&output));
        let found = findings(&report);
        assert_eq!((found.len(), &found[0]["kind"]), (1, &kind.into()), "{source}: {report:#}");
        let why = found[0]["explanation"].as_str().unwrap();
        assert!(said.iter().all(|words| why.contains(words)), "{source}: {why}");
        assert!(!why.contains("begins") && !why.contains("is about to go on"), "{source}: {why}");
    }
}

#[test]
fn an_interrupted_hunt_reports_what_it_has() {
    let bench = Bench::new();
    built(&bench, "race", &RACE.replace("bare++", "for (int i = 0; i < 200; i++) bare++"));
    let mut command = bench.raddle("hunt --minutes 5 -- ./race");
    let mut hunt = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(hunt.stderr.take().unwrap()));
    let told = lines.find(|l| l.as_ref().is_ok_and(|l| l.contains("confirmed after")));
    assert!(told.is_some());
    succeed(bench.command("kill").args(["-INT", &hunt.id().to_string()]));
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(hunt.wait().unwrap().code(), Some(66), "{rest:#?}");
    assert!(rest.iter().any(|l| l.contains("confirmed data race")), "{rest:#?}");
}

#[test]
fn a_bad_request_is_one_sentence() {
    let bench = Bench::new();
    for line in
        ["hunt", "hunt --minutes 0 -- x", "hunt --ctest none", "hunt -- ./missing", "triage x --fixed"]
    {
        let output = bench.raddle(line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{line}: {}", stderr(&output));
    }
}

/// Only a child of the program has threads, which nobody schedules.
#[test]
fn a_race_in_a_child_process_is_confirmed_by_ordinary_runs() {
    let bench = Bench::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/race/process/daemon_child_bad.c");
    bench.ok(&format!("cc -g -O1 -pthread {} -o daemon", source.display()));
    let (output, report) = hunt(&bench, "--seconds 60 -- ./daemon");
    assert_eq!(output.status.code(), Some(66), "{}\n{report:#}", stderr(&output));
    let found = &findings(&report)[0];
    assert_eq!((&found["kind"], &found["location"]["name"]), (&"data-race".into(), &"shared".into()));
    assert!(report["coverage"].to_string().contains("only a child process"), "{report:#}");
}

/// A run with locksets does not see it, as locks order nothing there, and no schedule shows it.
#[test]
fn a_lock_that_is_made_again_while_a_thread_uses_it_is_confirmed() {
    let bench = Bench::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/race/primitives");
    for (name, status) in [("spinlock_made_again_bad", 66), ("spinlock_made_again_ok", 0)] {
        bench
            .ok(&format!("cc -g -O1 -pthread {} -o {name}", corpus.join(name).with_extension("c").display()));
        let (output, report) = hunt(&bench, &format!("--seconds 30 -- ./{name}"));
        assert_eq!(output.status.code(), Some(status), "{name}: {}\n{report:#}", stderr(&output));
        let kinds: Vec<&str> = findings(&report).iter().flat_map(|f| f["kind"].as_str()).collect();
        assert!(kinds.iter().all(|kind| *kind == "data-race"), "{name}: {kinds:?}");
    }
}

/// It aborts in every order. One that needs an older value of `data` ends it before.
#[test]
fn older_values_are_tried_also_where_no_execution_passes() {
    let bench = Bench::new();
    let source = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int data, flag;
static void *put(void *unused) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, put, 0);
    int is_put = atomic_load_explicit(&flag, memory_order_relaxed);
    if (is_put && !atomic_load_explicit(&data, memory_order_relaxed))
        exit(7);
    pthread_join(t, 0);
    abort();
}
"#;
    built(&bench, "aborts", source);
    let (output, report) = hunt(&bench, "--seconds 60 -- ./aborts");
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert!(report["coverage"].to_string().contains("let atomic loads read older values"), "{report:#}");
    let kinds: Vec<&str> = findings(&report).iter().flat_map(|f| f["kind"].as_str()).collect();
    assert!(kinds.contains(&"exit-status") && kinds.contains(&"crash"), "{kinds:?}");
}
