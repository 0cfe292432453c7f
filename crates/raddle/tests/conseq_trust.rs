//! What `raddle conseq` says can be relied on: nothing is confirmed that was not seen again,
//! nothing is passed over in silence.

mod common;

use common::explore::{Searched, within};
use common::{Bench, look_again};
use std::process::{Command, Stdio};
use std::time::Duration;

fn conseq(bench: &Bench, options: &str, target: &[&str]) -> Command {
    let mut command = bench.raddle("conseq");
    command.args(["--format", "json", "-o", "report.json"]).args(options.split_whitespace());
    command.arg("--").args(target).env("TMPDIR", bench.session_folder()).stdin(Stdio::null());
    command
}

#[track_caller]
fn searched(bench: &Bench, options: &str, target: &[&str]) -> Searched {
    bench.searched(within(Duration::from_secs(150), &mut conseq(bench, options, target)))
}

/// What is copied or filled by one call, between a look and an assertion of another thread. CALL
/// changes all of `p`.
const CHANGED: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <string.h>
char p[64] = "aaaaaaaaaaaaaaaa", zeros[64] = "b";
volatile size_t n = sizeof p;
volatile int q;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *user(void *a) {
    if (p[0] == 'a') {
        pthread_mutex_lock(&m);
        q++;
        pthread_mutex_unlock(&m);
        assert(p[0] == 'a');
    }
    return a;
}
void *changer(void *a) { CALL; return a; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, user, 0);
    pthread_create(&u, 0, changer, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
"#;

/// Each call, built by gcc, which leaves them to the C library, without and with its checks.
#[test]
fn memory_and_string_functions_are_seen_however_they_are_built() {
    let bench = Bench::new();
    let calls = [
        ("set", "memset(p, 0, n)"),
        ("copy", "memcpy(p, zeros, n)"),
        ("move", "memmove(p, zeros, n)"),
        ("strcpy", "strcpy(p, zeros)"),
        ("strncpy", "strncpy(p, zeros, n)"),
    ];
    let ways = [
        ("plain", "-O0 -U_FORTIFY_SOURCE"),
        ("fast", "-O2 -U_FORTIFY_SOURCE"),
        ("checked", "-O2 -D_FORTIFY_SOURCE=2"),
    ];
    for (name, call) in calls {
        let file = bench.file(&format!("{name}.c"), &CHANGED.replace("CALL", call));
        for (way, flags) in ways {
            let target = format!("./{name}-{way}");
            let mut cc = bench.raddle("cc");
            cc.args(["--use", "gcc", "-w", "-g", "-pthread"]).args(flags.split_whitespace());
            assert!(cc.arg(&file).arg("-o").arg(bench.path(&target)).status().unwrap().success());
            let done = searched(&bench, "--sites assert", &[&target]);
            assert_eq!(done.kinds(), ["assertion"], "{call} built with {flags}: {}", done.stderr);
        }
    }
}

/// The last field of a structure that is filled at once is as much written to as the first.
#[test]
fn all_of_a_block_counts_not_its_first_word_alone() {
    let bench = Bench::new();
    let text = CHANGED.replace("p[0]", "p[15]").replace("CALL", "memset(p, 0, n)");
    let target = bench.build_text("last", &text);
    let done = searched(&bench, "--sites assert", &[&target]);
    assert_eq!(done.kinds(), ["assertion"], "{}", done.stderr);
}

/// It ends at once without the file that the script makes for it.
const NEEDS_A_FILE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int x;
static void *late(void *a) { usleep(100000); x = 1; return a; }
int main(void) {
    FILE *file = fopen("cfg", "r");
    if (!file) return 1;
    fclose(file);
    pthread_t t;
    pthread_create(&t, 0, late, 0);
    assert(x == 0);
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn a_script_that_sets_something_up_is_looked_at_as_a_whole() {
    let bench = Bench::new();
    bench.build_text("needs", NEEDS_A_FILE);
    bench.script("all", "#!/bin/sh\ntouch cfg\n./needs; r=$?\nrm cfg\nexit $r\n");
    // It is tried with delays, in ordinary runs, and on a busy machine the sleep may be over before
    // the assertion is reached without any.
    let done =
        look_again(|done: &Searched| done.status == 66, || searched(&bench, "--sites assert", &["./all"]));
    assert_eq!((done.status, done.kinds()), (66, vec!["assertion"]), "{}", done.stderr);
    assert!(done.stderr.contains("the command is looked at as a whole"), "{}", done.stderr);
}

#[test]
fn a_program_that_could_not_be_looked_at_is_no_clean_bill() {
    let bench = Bench::new();
    bench.build_text("needs", NEEDS_A_FILE);
    // The other one can be looked at by itself, and nothing is wrong with it.
    let fine =
        NEEDS_A_FILE.replace("if (!file) return 1;\n    fclose(file);", "").replace("assert(x == 0);", "");
    bench.build_text("fine", &fine);
    bench.script("all", "#!/bin/sh\n./fine\ntouch cfg\n./needs; r=$?\nrm cfg\nexit $r\n");
    let done = searched(&bench, "--sites assert", &["./all"]);
    assert_eq!((done.status, done.kinds().len()), (2, 0), "{}", done.stderr);
    assert_eq!(done.stat("programs_left_out"), 1);
    assert!(done.report["coverage"].to_string().contains("could not be looked at"), "{}", done.report);
}

/// Right, and with enough to do that it can be killed in the midst of it.
const BUSY: &str = r#"
#include <assert.h>
#include <pthread.h>
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int x, y, z[50];
static void *adds(void *a) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mu);
        x++;
        y++;
        z[i] = x;
        assert(x == y);
        pthread_mutex_unlock(&mu);
    }
    return a;
}
static void *looks(void *a) {
    int k = 0;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mu);
        if (z[i] > k) k = z[i];
        pthread_mutex_unlock(&mu);
    }
    return k < 0 ? a : 0;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, i & 1 ? adds : looks, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
"#;

/// The processes that this one has started and that run the file.
fn workers(parent: u32, name: &str) -> Vec<i32> {
    let of = |pid: i32| -> Option<(u32, String)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (comm, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        Some((rest.split_whitespace().nth(1)?.parse().ok()?, comm.to_owned()))
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| of(*pid).is_some_and(|(ppid, comm)| ppid == parent && comm == name)).collect()
}

#[test]
fn a_worker_that_somebody_kills_confirms_nothing() {
    let bench = Bench::new();
    let target = bench.build_text("busy", BUSY);
    let mut command = conseq(&bench, "--seconds 20", &[&target]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut killed = 0;
    while child.try_wait().unwrap().is_none() {
        if killed < 3 {
            for pid in workers(child.id(), "busy") {
                // SAFETY: a child of the raddle that this test has started, which has not waited
                // for it yet.
                killed += u32::from(unsafe { libc::kill(pid, libc::SIGKILL) } == 0);
            }
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(killed > 0, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let status = output.status.code();
    assert!(status == Some(0) || status == Some(2) && said.contains("killed"), "{status:?}: {said}");
    if status == Some(0) {
        let report = std::fs::read_to_string(bench.path("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report:#}");
    }
}

#[test]
fn an_interrupted_campaign_is_no_clean_bill() {
    let bench = Bench::new();
    let target = bench.build_text("busy", BUSY);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut command = conseq(&bench, "--seconds 60", &[&target]);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        // Once there is a worker it is under way.
        while workers(child.id(), "busy").is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        // SAFETY: the raddle that this test has started, and not waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

/// A line of more than any report has room for.
const LONG_LINE: &str = r#"
#include <pthread.h>
#include <stdio.h>
int late;
void *other(void *a) { late = 1; return a; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    if (late) {
        printf("error: ");
        for (int i = 0; i < 20000; i++) putchar('x');
        putchar('\n');
    }
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn a_message_has_an_end() {
    let bench = Bench::new();
    let target = bench.build_text("long", LONG_LINE);
    let done = searched(&bench, "", &[&target]);
    assert_eq!(done.kinds(), ["output"], "{}", done.stderr);
    let message = done.findings()[0]["message"].as_str().unwrap();
    assert!(message.contains("`error: xx") && message.len() < 600, "{} bytes", message.len());
}

/// Who frees a block that was handed to it comes after what was done before: that is no suspect. An
/// access after the block was handed over is one.
#[test]
fn a_block_that_is_handed_over_is_suspected_only_afterwards() {
    let bench = Bench::new();
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/conseq");
    let programs = [("handed_task", "c", ["cc", "gcc"]), ("moved_job", "cc", ["c++", "g++"])];
    for (name, extension, [wrapper, compiler]) in programs {
        for (way, is_suspected) in [("ok", false), ("bad", true)] {
            let target = format!("./{name}_{way}");
            let mut build = bench.raddle(wrapper);
            build.args(["--use", compiler, "-g", "-O1", "-pthread"]);
            build.arg(corpus.join(format!("{name}_{way}.{extension}"))).arg("-o").arg(bench.path(&target));
            assert!(build.status().unwrap().success());
            let done = searched(&bench, "--sites memory --no-test", &[&target]);
            let suspects = done.report["suspects"].as_array().unwrap();
            let found = suspects.iter().any(|s| s["kind"] == "use-after-free");
            assert_eq!(found, is_suspected, "{target}: {suspects:#?}");
        }
    }
}

/// A loop that waits for a flag which the other thread may clear before it is set. It counts its
/// rounds, so nobody can tell that it goes on for ever.
const COUNTED: &str = r#"
#include <pthread.h>
#include <sched.h>
volatile int pending;
volatile unsigned rounds;
void *device(void *a) { pending = 0; return a; }
int main(void) {
    pthread_t t;
    FIRST
    pthread_create(&t, 0, device, 0);
    SECOND
    while (pending) {
        rounds++;
        sched_yield();
    }
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn a_loop_that_was_cut_off_is_not_called_harmless() {
    let bench = Bench::new();
    let (set, nothing) = ("pending = 1;", "");
    let late = bench.build_text("late", &COUNTED.replace("FIRST", nothing).replace("SECOND", set));
    let done = searched(&bench, "--sites loop --seconds 30 --max-steps 2000", &[&late]);
    assert_eq!(done.stat("suspects_refuted"), 0, "{}\n{}", done.report, done.stderr);
    assert_eq!(done.stat("suspects_open"), 1, "{}", done.report);
    let early = bench.build_text("early", &COUNTED.replace("FIRST", set).replace("SECOND", nothing));
    let done = searched(&bench, "--sites loop --seconds 30 --max-steps 2000", &[&early]);
    assert_eq!(done.status, 0, "{}\n{}", done.report, done.stderr);
    assert_eq!(done.stat("suspects_open"), 0, "{}", done.report);
}
