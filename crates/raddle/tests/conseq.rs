//! `raddle conseq` as a command: what it says, what its options do, and what bad targets get.

mod common;

use common::explore::{Searched, within};
use common::{Bench, look_again, refused, stderr};
use std::process::Stdio;
use std::time::Duration;

impl Bench {
    fn conseq_command(&self, options: &str, target: &[&str]) -> std::process::Command {
        let mut command = self.raddle("conseq");
        command.args(options.split_whitespace()).arg("--").args(target);
        command.env("TMPDIR", self.session_folder()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn conseq(&self, options: &str, target: &[&str]) -> Searched {
        let mut command = self.conseq_command(&format!("--format json -o report.json {options}"), target);
        self.searched(within(Duration::from_secs(120), &mut command))
    }

    /// The same until it has a finding, at most five times. Delays are tried in ordinary runs: one
    /// that fails without any shows that nothing can be tested with them, and that is luck.
    #[track_caller]
    fn conseq_by_luck(&self, options: &str, target: &[&str]) -> Searched {
        look_again(|done: &Searched| done.status == 66, || self.conseq(options, target))
    }

    #[track_caller]
    fn refuses(&self, options: &str, target: &[&str], parts: &[&str]) {
        let said = refused(&mut self.conseq_command(options, target));
        for part in parts {
            assert!(said.contains(part), "`{part}` is not in: {said}");
        }
    }
}

/// A pointer that is cleared between a look and a use.
const CLEARED: &str = r#"
#include <assert.h>
#include <pthread.h>
const char *volatile url = "x";
void *ui(void *a) {
    if (url)
        assert(url != 0);
    return a;
}
void *loader(void *a) {
    url = 0;
    return a;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, ui, 0);
    pthread_create(&b, 0, loader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn an_assertion_is_confirmed_told_and_replayed() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let done = bench.conseq("", &[&target]);
    assert_eq!(done.status, 66, "{}", done.stderr);
    let finding = &done.findings()[0];
    assert_eq!(
        (finding["kind"].as_str(), finding["confidence"].as_str()),
        (Some("assertion"), Some("confirmed"))
    );
    let message = finding["message"].as_str().unwrap();
    assert_eq!(message, "assertion `url != 0` at ui.c:7 can fail: ui.c:7 may read NULL written by ui.c:11");
    assert_eq!(done.schedule(), "ui-assert-1.raddle");
    assert_eq!(done.stat("suspects_open"), 0);
    let coverage = done.report["coverage"].to_string();
    assert!(coverage.contains("looked at: ") && coverage.contains(" confirmed, "), "{coverage}");
    let again = bench.replay("", "ui-assert-1.raddle");
    assert_eq!((again.status, again.kinds()), (66, vec!["assertion"]));
}

#[test]
fn without_a_test_it_is_a_suspect() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let done = bench.conseq("--no-test --sites assert", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "a suspect is no finding");
    let suspects = suspects(&done);
    let is = |key: &str, what: &str| suspects.iter().all(|f| f[key] == what);
    assert!(is("kind", "assertion") && is("confidence", "suspected"), "{}", done.report);
    let told = |part: &str| suspects.iter().any(|f| f["message"].as_str().unwrap().contains(part));
    assert!(told("can fail: ui.c:7 may read NULL"), "{}", done.report);
    let notes = suspects[0]["notes"].to_string();
    assert!(notes.contains("the read of `url` got 0x"), "what it was when all was well: {notes}");
    assert!(notes.contains("not tried: --no-test"), "{notes}");
}

fn suspects(done: &Searched) -> &[serde_json::Value] {
    done.report["suspects"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn sites_that_are_not_asked_for_are_not_looked_at() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let done = bench.conseq("--sites output", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.stderr);
    assert_eq!((done.stat("sites"), done.stat("suspects")), (&0.into(), &0.into()));
}

#[test]
fn critical_reads_off_finds_more_pairs() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let (some, all) = (bench.conseq("", &[&target]), bench.conseq("--all-reads", &[&target]));
    let suspects = |s: &Searched| s.stat("suspects").as_u64().unwrap();
    assert!(suspects(&all) > suspects(&some), "{} and {}", suspects(&all), suspects(&some));
    assert!(all.kinds().contains(&"assertion"));
}

#[test]
fn atomicity_violations_are_told_when_asked_for() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let done = bench.conseq("--atomicity --no-test --sites output", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "a suspect is no finding");
    assert_eq!(suspects(&done)[0]["kind"], "atomicity-violation");
    assert_eq!(suspects(&done)[0]["accesses"].as_array().unwrap().len(), 3);
}

#[test]
fn sites_are_listed_without_a_run() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let output = bench.conseq_command("--sites-only --sites assert", &[&target]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("assert at ui.c:7 in ui: __assert_fail\n    reads at ui.c:7, distance "), "{text}");
}

/// A program that gcc built without raddle.
fn plain(bench: &Bench, name: &str, text: &str) -> String {
    let file = bench.file(&format!("{name}.c"), text);
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread"]).arg(file).arg("-o").arg(bench.path(name));
    assert!(gcc.status().unwrap().success());
    format!("./{name}")
}

#[test]
fn machine_code_is_watched_in_a_copy() {
    let bench = Bench::new();
    let target = plain(&bench, "ui", CLEARED);
    let done = bench.conseq("", &[&target]);
    assert_eq!(done.status, 66, "{}", done.stderr);
    assert!(done.stderr.contains("raddle watches a copy of its machine code"), "{}", done.stderr);
    let finding = &done.findings()[0];
    let message = finding["message"].as_str().unwrap();
    assert_eq!(message, "assertion `url != 0` at ui.c:7 can fail: ui.c:7 may read NULL written by ui.c:11");
    assert_eq!(done.stat("suspects_open"), 0, "{}", done.report);
    let again = bench.replay("", "ui-assert-1.raddle");
    assert_eq!((again.status, again.kinds()), (66, vec!["assertion"]));
    bench.refuses("--tester delays", &[&target], &["not watched in ordinary runs", "raddle cc"]);
    let output = bench.conseq_command("--sites-only --sites assert", &[&target]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout.clone()).unwrap().contains("__assert_fail"));
    assert!(stderr(&output).contains("copy of its machine code"), "{}", stderr(&output));
}

/// `memset` is called by the copy, and is a write of the program's own.
#[test]
fn what_a_copy_calls_is_told_by_its_place_in_the_original() {
    let bench = Bench::new();
    let text = CLEARED.replace("const char *volatile url", "char *volatile url");
    let text = text.replace("url = 0;", "volatile unsigned long n = 8; memset((void *)&url, 0, n);");
    let target = plain(&bench, "ui", &format!("#include <string.h>\n{text}"));
    let done = bench.conseq("", &[&target]);
    assert_eq!(done.status, 66, "{}\n{}", done.report, done.stderr);
    assert_eq!(done.stat("suspects_open"), 0, "{}", done.report);
    assert!(!done.report.to_string().contains("relocated+0x"), "{}", done.report);
}

#[test]
fn machine_code_does_not_tell_a_race_from_an_atomic_access() {
    let bench = Bench::new();
    let racy = bench.build_text("racy", MISSED);
    let done = bench.conseq("--sites output", &[&racy]);
    assert_eq!(done.status, 66, "{}", done.stderr);
    let done = bench.conseq("--sites output --suspects", &[&plain(&bench, "plain", MISSED)]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let said: String = suspects(&done).iter().map(|s| s["notes"].to_string()).collect();
    assert!(said.contains("machine code does not say which accesses are atomic"), "{said}");
}

#[test]
fn what_is_not_copied_gets_sites_and_no_run() {
    let bench = Bench::new();
    let text = CLEARED
        .replace("int main(void) {", "#include <stdlib.h>\nint main(void) {\n    if (!url) system(\"ls\");");
    let target = plain(&bench, "starts", &text);
    bench.refuses("", &[&target], &["can start other programs", "error site", "raddle cc"]);
    let alone =
        plain(&bench, "alone", "#include <assert.h>\nint main(int n, char **a) { assert(n > 0); return 0; }");
    bench.refuses("", &[&alone], &["starts no threads", "error site", "raddle cc"]);
}

#[test]
fn a_script_an_absent_program_and_options_that_make_no_sense() {
    let bench = Bench::new();
    bench.script("script", "#!/bin/sh\nexit 0\n");
    bench.refuses("", &["./script"], &["./script", "processes it started is instrumented"]);
    bench.refuses("", &["./absent"], &["no program `./absent`"]);
    for options in ["--sites asserts", "--max-distance 0", "--seconds 0", "--runs 0", "--max-steps 1"] {
        bench.refuses(options, &["./x"], &["raddle conseq --help"]);
    }
    bench.file("raddle.toml", "[conseq]\nassert = 7\n");
    let target = bench.build_text("ui", CLEARED);
    bench.refuses("", &[&target], &["raddle.toml: line 2"]);
}

#[test]
fn a_program_without_threads_has_nothing_to_interleave() {
    let bench = Bench::new();
    let fails = bench.build_text("fails", "int main(void) { return 3; }");
    bench.refuses("", &[&fails], &["no correct run", "ended with status 3 and created no thread"]);
    let target = bench.build_text("alone", "int main(void) { return 0; }");
    bench.refuses("", &[&target], &["nothing to interleave"]);
}

#[test]
fn a_program_that_comes_by_no_site_is_told_so() {
    let bench = Bench::new();
    let text = CLEARED
        .replace("int main(void) {", "int main(int n, char **v) {\n    if (n < 2) ui = 0;")
        .replace("void *ui(void *a) {", "void *(*ui)(void *);\nvoid *real_ui(void *a) {")
        .replace("pthread_create(&a, 0, ui, 0);", "pthread_create(&a, 0, ui ? real_ui : loader, 0);");
    let target = bench.build_text("idle", &text);
    let done = bench.conseq("--sites assert", &[&target]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stderr.contains("come by none of the reads"), "{}", done.stderr);
}

/// Without optimisation, all atomics are accessed in functions of Rust's library.
#[test]
fn an_access_in_rusts_library_is_told_by_the_line_that_called_it() {
    let bench = Bench::new();
    bench.file(
        "flag.rs",
        "use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
static FLAG: AtomicUsize = AtomicUsize::new(1);
fn main() {
    let other = std::thread::spawn(|| {
        FLAG.store(0, SeqCst);
        FLAG.store(1, SeqCst);
    });
    let flag = FLAG.load(SeqCst);
    assert!(flag == 1);
    other.join().unwrap();
}",
    );
    bench.ok("rustc -g flag.rs");
    let done = bench.conseq("--sites assert", &["./flag"]);
    assert_eq!((done.status, done.kinds()), (66, vec!["assertion"]), "{}", done.stderr);
    let message = done.report["findings"][0]["message"].as_str().unwrap();
    assert!(message.ends_with("flag.rs:8 may read 0 written by flag.rs:5"), "{message}");
}

#[test]
fn a_run_that_dies_leaves_a_trace_that_is_read() {
    let bench = Bench::new();
    let text = CLEARED.replace("url = 0;", "url = 0;\n    __builtin_trap();");
    let target = bench.build_text("dies", &text);
    let done = bench.conseq("", &[&target]);
    assert_eq!((done.status, done.kinds()), (66, vec!["crash"]), "{}", done.stderr);
    assert!(done.stderr.contains("no traced run ended well"), "{}", done.stderr);
}

#[test]
fn custom_names_are_sites() {
    let bench = Bench::new();
    let text = CLEARED
        .replace("assert(url != 0);", "if (!url) complain();")
        .replace("void *ui(", "volatile int complaints;\n__attribute__((noinline)) void complain(void) { complaints++; }\nvoid *ui(");
    let target = bench.build_text("custom", &text);
    assert_eq!(bench.conseq("--sites error", &[&target]).stat("sites"), 0);
    bench.file("raddle.toml", "[conseq]\nerror = [\"complain\"]\n");
    let done = bench.conseq("--sites error", &[&target]);
    assert_eq!(done.stat("sites"), 1);
    assert!(done.stat("suspects").as_u64().unwrap() > 0);
}

#[test]
fn a_list_of_sites_is_text() {
    let bench = Bench::new();
    bench.refuses("--sites-only --format json", &["/bin/true"], &["--sites-only", "--format"]);
    bench.refuses("--sites-only -o list.json", &["/bin/true"], &["--sites-only", "--output"]);
}

/// What it downloads to is left behind when it fails, and the next execution says so.
const LEFT_BEHIND: &str = r#"
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
const char *volatile url = "x";
volatile int shown;
void *ui(void *a) {
    int file = open("download", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0)
        fprintf(stderr, "it is there already\n");
    else
        close(file);
    if (url)
        assert(url != 0);
    printf("shown: %d\n", shown);
    unlink("download");
    return a;
}
void *loader(void *a) {
    shown = 1;
    url = 0;
    shown = 0;
    return a;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, ui, 0);
    pthread_create(&b, 0, loader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn what_an_execution_leaves_behind_is_not_the_next_ones_fault() {
    let bench = Bench::new();
    let target = bench.build_text("left", LEFT_BEHIND);
    let done = bench.conseq("", &[&target]);
    let mut kinds = done.kinds();
    kinds.sort_unstable();
    assert_eq!(kinds, ["assertion", "output"], "{}\n{}", done.report, done.stderr);
}

/// What is printed differs when the read gets the other value, and the assertion holds all the
/// same.
const PRINTED_BESIDE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int state, always = 1;
void *change(void *a) { atomic_store(&state, 1); atomic_store(&state, 0); return a; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, change, 0);
    int seen = atomic_load(&state);
    printf("saw %d\n", seen);
    assert(seen == 0 || atomic_load(&always));
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn an_unusual_line_does_not_hide_that_an_assertion_held() {
    let bench = Bench::new();
    let target = bench.build_text("beside", PRINTED_BESIDE);
    let done = bench.conseq("--sites assert,output", &[&target]);
    let said = format!("{}\n{}", done.report, done.stderr);
    assert_eq!(done.report["stats"]["refuted_harmless"], 1, "{said}");
    assert_eq!(done.report["stats"]["suspects_shown"], 1, "the line: {said}");
}

#[test]
fn a_program_without_an_end_has_no_correct_run() {
    let bench = Bench::new();
    let text = CLEARED.replace("url = 0;\n", "for (;;) { url = \"y\"; url = \"x\"; }\n");
    let target = bench.build_text("server", &text);
    bench.refuses(
        "--max-steps 2000 --patience 2",
        &[&target],
        &["came to its end in none", "no correct run"],
    );
}

/// The logger misses its entry while the log is being changed.
const MISSED: &str = r#"
#include <pthread.h>
#include <stdio.h>
volatile int is_open = 1;
void *logger(void *a) {
    int seen = is_open;
    if (seen)
        fprintf(stderr, "entry\n");
    printf("open: %d\n", seen);
    return a;
}
void *rotate(void *a) { is_open = 0; is_open = 1; return a; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, logger, 0);
    pthread_create(&b, 0, rotate, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_line_that_is_missing_is_missing_in_a_replay() {
    let bench = Bench::new();
    let target = bench.build_text("missed", MISSED);
    let done = bench.conseq("", &[&target]);
    assert_eq!(done.kinds(), ["error-message"], "{}", done.stderr);
    assert!(done.report["findings"][0]["message"].as_str().unwrap().starts_with("`entry` is not printed"));
    let again = bench.replay("", done.schedule());
    assert_eq!((again.status, again.kinds()), (66, vec!["error-message"]), "{}", again.stderr);
}

/// Each thread fills its own half of a table, which is summed up in the end: by whom is the
/// argument.
const FILLED: &str = r#"
#include <assert.h>
#include <pthread.h>
long table[2000], sum;
int seen;
void *fill(void *of) {
    long *to = of;
    for (int i = 0; i < 1000; i++) to[i] = i;
    seen++;
    return of;
}
void *add(void *a) {
    for (int i = 0; i < 2000; i++) sum += table[i];
    assert(seen >= 0);
    return a;
}
int main(int n, char **words) {
    pthread_t a, b, c;
    pthread_create(&a, 0, fill, table);
    pthread_create(&b, 0, fill, table + 1000);
    if (n > 1) pthread_create(&c, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (n > 1) pthread_join(c, 0);
    else add(0);
    return 0;
}
"#;

#[test]
fn what_a_joined_thread_leaves_is_not_traced() {
    let bench = Bench::new();
    let target = bench.build_text("filled", FILLED);
    let events = |words: &[&str]| {
        let words: Vec<&str> = [target.as_str()].iter().chain(words).copied().collect();
        bench.conseq("--no-test --runs 1", &words).stat("trace_events").as_u64().unwrap()
    };
    let (joined, beside) = (events(&[]), events(&["beside"]));
    assert!(joined < 200, "{joined} events where only `seen` is shared");
    assert!(beside > 4000, "{beside} events where the table is read beside those who fill it");
}

#[test]
fn a_suite_is_one_campaign() {
    let bench = Bench::new();
    bench.build_text("ui", CLEARED);
    // Findings with the same functions are one finding.
    let guarded = CLEARED.replace("ui", "front").replace("loader", "back").replace(
        "int main(void) {",
        "#include <stdlib.h>\nint main(void) {\n    if (!getenv(\"CASE\")) return 0;",
    );
    bench.build_text("case", &guarded);
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.script("all", "#!/bin/sh\n./ui\n./ui\ncd sub\nCASE=1 ../case -v\n");
    let done = bench.conseq("", &["./all"]);
    assert_eq!((done.status, done.kinds()), (66, vec!["assertion"; 2]), "{}", done.stderr);
    assert_eq!(done.stat("programs"), 2, "the same command twice is one");
    let folder = bench.path("sub").canonicalize().unwrap();
    let case = done.findings().iter().find(|f| f["message"].as_str().unwrap().contains("case.c")).unwrap();
    let note = case["notes"][0].as_str().unwrap();
    assert!(note.starts_with("in `/") && note.ends_with("/case -v`"), "{note}");
    let schedule = std::fs::read_to_string(bench.path(case["schedule"].as_str().unwrap())).unwrap();
    assert!(schedule.contains(folder.to_str().unwrap()) && schedule.contains("\"CASE\":\"1\""), "{schedule}");
    let again = bench.replay("", case["schedule"].as_str().unwrap());
    assert_eq!((again.status, again.kinds()), (66, vec!["assertion"]), "{}", again.stderr);
}

#[test]
fn a_suite_says_which_of_its_programs_were_of_no_use() {
    let bench = Bench::new();
    bench.build_text("alone", "int main(void) { return 0; }");
    bench.script("all", "#!/bin/sh\n./alone\nexit 3\n");
    let output = bench.conseq_command("", &["./all"]).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in [
        "ended with status 3 when it was run as it is",
        "alone` ended with status 0 and created no thread",
        "no thread was created: there is nothing to interleave",
    ] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn a_suspect_has_whole_stacks() {
    let bench = Bench::new();
    let text = CLEARED.replace("void *ui(void *a) {", "__attribute__((noinline)) void show(void) {").replace(
        "    return a;\n}\nvoid *loader",
        "}\nvoid *ui(void *a) { show(); return a; }\nvoid *loader",
    );
    let target = bench.build_text("deep", &text);
    let done = bench.conseq("--no-test --sites assert", &[&target]);
    let finding = suspects(&done).iter().find(|f| f["accesses"].as_array().unwrap().len() == 3).unwrap();
    let functions = |i: usize| -> Vec<&str> {
        let stack = finding["accesses"][i]["stack"].as_array().unwrap();
        stack.iter().map(|f| f["function"].as_str().unwrap()).collect()
    };
    assert_eq!((functions(0), functions(1)), (vec!["show", "ui"], vec!["show", "ui"]), "{}", done.report);
    assert_eq!(functions(2), ["loader"]);
}

#[test]
fn delays_make_it_happen_without_a_schedule() {
    let bench = Bench::new();
    let target = bench.build_text("ui", CLEARED);
    let done = bench.conseq_by_luck("--tester delays --sites assert", &[&target]);
    let confirmed = done.findings().iter().find(|f| f["confidence"] == "confirmed");
    let finding = confirmed.unwrap_or_else(|| panic!("{}\n{}", done.report, done.stderr));
    let message = finding["message"].as_str().unwrap();
    assert_eq!(message, "assertion `url != 0` fails: ui.c:7 may read NULL written by ui.c:11");
    assert!(finding["schedule"].is_null() && finding["notes"][0].as_str().unwrap().contains("by delays"));
}

#[test]
fn delays_show_nothing_where_plain_runs_fail() {
    let bench = Bench::new();
    // The scheduler has the loader bind all functions at once; an ordinary run does not.
    let text = CLEARED.replace(
        "int main(void) {",
        "#include <stdlib.h>\nint main(void) {\n    if (!getenv(\"LD_BIND_NOW\")) return 9;",
    );
    let target = bench.build_text("fails", &text);
    let done = bench.conseq("--tester delays --sites assert", &[&target]);
    assert!(done.stderr.contains("status 9 in a run without delays"), "{}", done.stderr);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.report);
    assert_ne!(done.stat("suspects_open"), 0);
}

const COUNTED_IN_AND_OUT: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int begun, ended;
static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    begun++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    ended++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t t[6];
    for (int i = 0; i < 6; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    return begun != ended;
}
"#;

/// While nobody is preempted as many have ended as begun. That says nothing of what is meant.
#[test]
fn an_equality_that_locks_let_go_is_not_confirmed() {
    let bench = Bench::new();
    let target = bench.build_text("counted", COUNTED_IN_AND_OUT);
    let told = bench.conseq("--sites invariant --seconds 30 --suspects", &[&target]);
    assert_eq!((told.status, told.kinds().len()), (0, 0), "{}", told.stderr);
    let shown = suspects(&told).iter().find(|f| f["kind"] == "invariant").unwrap();
    assert!(shown["notes"][0].as_str().unwrap().contains("may be meant to differ"), "{}", told.report);
    assert_ne!(told.stat("suspects_shown"), 0);
}
