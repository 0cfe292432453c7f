//! What `raddle hunt` refutes or explains, and what it must leave open.

mod common;
mod hunting;

use common::{Bench, stderr};
use hunting::{ONE_AFTER_THE_OTHER, built, findings, hunt};
use serde_json::Value;

#[test]
fn a_suspicion_is_refuted_by_all_schedules() {
    let bench = Bench::new();
    built(&bench, "ordered", ONE_AFTER_THE_OTHER);
    let (output, report) = hunt(&bench, "--seconds 30 --suspects -- ./ordered");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(findings(&report).is_empty(), "{report:#}");
    let stats = &report["stats"];
    assert!(stats["suspicions_refuted"].as_u64().unwrap() > 0, "{stats}");
    let suspects = report["suspects"].as_array().unwrap();
    let cycle = suspects.iter().find(|s| s["kind"] == "lock-order").unwrap_or_else(|| panic!("{report:#}"));
    let notes = cycle["notes"].to_string();
    assert!(notes.contains("refuted: in each of the") && notes.contains("suspected by `run`"), "{notes}");
}

/// A word and a flag, stored one after the other, each under the lock. Whoever sees the flag looks
/// for the word.
fn flagged(first: &str, second: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *word;
static int ready;
static void *put(void *unused) {{
    pthread_mutex_lock(&lock);
    {first};
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    {second};
    pthread_mutex_unlock(&lock);
    return unused;
}}
static void *get(void *unused) {{
    pthread_mutex_lock(&lock);
    int is_ready = ready;
    pthread_mutex_unlock(&lock);
    if (is_ready) {{
        pthread_mutex_lock(&lock);
        const char *got = word;
        pthread_mutex_unlock(&lock);
        if (!got)
            printf("lost\n");
    }}
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, put, 0);
    pthread_create(&b, 0, get, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}}
"#
    )
}

/// `conseq` needs some seconds of a processor to bring the values to the reads, so a hunt that did
/// not get them is made again.
#[test]
fn what_conseq_says_against_its_suspicion_is_told_and_that_of_the_wrong_twin_stays_open() {
    let bench = Bench::new();
    built(&bench, "right", &flagged("word = \"found\"", "ready = 1"));
    built(&bench, "wrong", &flagged("ready = 1", "word = \"found\""));
    let stat = |report: &Value, key: &str| report["stats"][key].as_u64().unwrap();
    let is_explained = (0..5).any(|seed| {
        let (output, report) = hunt(&bench, &format!("--suspects --seconds 60 --seed {seed} -- ./right"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let told = report["suspects"].to_string();
        stat(&report, "suspicions_open") == 0
            && stat(&report, "suspicions_explained") > 0
            && told.contains("open, explained: ")
            && report["suspects"][0]["verdict"] == "open"
    });
    assert!(is_explained, "no hunt of five has explained it");
    let is_real = |s: &&Value| s["message"].as_str().is_some_and(|m| m.contains("`lost` is printed"));
    let notes = (0..5).find_map(|seed| {
        let (output, report) = hunt(&bench, &format!("--suspects --seconds 60 --seed {seed} -- ./wrong"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        report["suspects"].as_array()?.iter().find(is_real).map(|s| s["notes"].to_string())
    });
    let notes = notes.expect("no hunt of five has made it happen");
    assert!(notes.contains("open; tried: "), "{notes}");
    assert!(!notes.contains("explained: ") && !notes.contains("refuted: "), "{notes}");
}

/// Adds up under a lock. `careless` does without it, if `when` says so.
fn careless(when: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, bare, is_careless;
static void *work(void *unused) {{
    if (is_careless)
        bare++;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    if (is_careless)
        bare++;
    return unused;
}}
int main(int argc, char **argv) {{
    is_careless = {when};
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    work(0);
    pthread_join(a, 0);
    return 0;
}}
"#
    )
}

/// The races are real. In the first program they need arguments; in the second, the first run makes
/// a file, and later ones are careful.
#[test]
fn a_search_does_not_refute_what_its_schedules_do_not_come_to() {
    let bench = Bench::new();
    bench.file("rare.c", &careless("argc > 3"));
    let (output, report) = hunt(&bench, "--suspects --seconds 60 --seed 1 rare.c");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report:#}");
    assert!(report["suspects"][0]["notes"].to_string().contains("open; tried: "), "{report:#}");

    built(&bench, "once", &careless("access(\"made\", F_OK) != 0 && fclose(fopen(\"made\", \"w\")) == 0"));
    let (output, report) = hunt(&bench, "--suspects --seconds 60 --seed 1 -- ./once");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report:#}");
    assert!(report["suspects"][0]["notes"].to_string().contains("open; tried: "), "{report:#}");
}

/// Two threads that take a path by the real time, which a search replaces by its own: its schedules
/// come to `add`, but for another variable, and never to the locks `a` and `b`.
fn by_the_time(first: &str, second: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
long guarded, bare;
static long now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}}
static int is_slow(void) {{
    long begun = now(), n = 0;
    for (long i = 0; i < 20000000; i++)
        __asm__ volatile("" : "+r"(n));
    return now() - begun > 1000000;
}}
__attribute__((noinline)) static void add(long *to) {{ *to += 1; }}
static void usual(void) {{
    pthread_mutex_lock(&m);
    add(&guarded);
    pthread_mutex_unlock(&m);
}}
static void both(pthread_mutex_t *x, pthread_mutex_t *y) {{
    pthread_mutex_lock(x);
    pthread_mutex_lock(y);
    pthread_mutex_unlock(y);
    pthread_mutex_unlock(x);
}}
static void *one(void *unused) {{
    if (is_slow()) {{ {first}; }} else {{ usual(); both(&a, &b); }}
    return unused;
}}
static void *two(void *unused) {{
    if (is_slow()) {{ {second}; }} else {{ usual(); both(&a, &b); }}
    return unused;
}}
int main(void) {{
    pthread_t t, u;
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}}
"#
    )
}

/// The race and the cycle are real. Two ordinary runs confirm the race; the cycle needs luck to
/// deadlock. The last program does the same with care.
#[test]
fn a_search_does_not_refute_what_only_the_real_time_leads_to() {
    let bench = Bench::new();
    built(&bench, "race", &by_the_time("add(&bare)", "add(&bare)"));
    // Another program may keep the two threads of a run from overlapping.
    let mut last = Value::Null;
    let is_confirmed = (0..5).any(|_| {
        let (output, report) = hunt(&bench, "--suspects --seconds 15 --no-store -- ./race");
        assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report:#}");
        let is_race = findings(&report).iter().any(|f| f["kind"] == "data-race");
        last = report;
        output.status.code() == Some(66) && is_race
    });
    assert!(is_confirmed, "{last:#}");

    built(&bench, "cycle", &by_the_time("both(&a, &b)", "both(&b, &a)"));
    let (_, report) = hunt(&bench, "--suspects --seconds 15 --no-store -- ./cycle");
    assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report:#}");
    let is_cycle = |f: &Value| f["kind"] == "lock-order" || f["kind"] == "deadlock";
    let suspects = report["suspects"].as_array().unwrap();
    assert!(suspects.iter().chain(findings(&report)).any(is_cycle), "{report:#}");

    built(&bench, "careful", &by_the_time("usual(); both(&b, &a)", "usual(); both(&b, &a)"));
    let (output, report) = hunt(&bench, "--suspects --seconds 15 --no-store -- ./careful");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(report["stats"]["suspicions"], 0, "{report:#}");
}

/// The second thread uses the word only once the first is done with it, which locksets do not see.
/// Some schedules come to both accesses, and all order them.
#[test]
fn a_race_on_a_global_is_refuted_if_all_schedules_order_it() {
    let bench = Bench::new();
    let source = r#"
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int is_ready, word;
static void *first(void *unused) {
    word++;
    pthread_mutex_lock(&m);
    is_ready = 1;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *second(void *unused) {
    long n = 0;
    for (long i = 0; i < 20000000; i++)
        __asm__ volatile("" : "+r"(n));
    pthread_mutex_lock(&m);
    int sees = is_ready;
    pthread_mutex_unlock(&m);
    if (sees)
        word++;
    return unused;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
"#;
    built(&bench, "word", source);
    // Only a run in which the first thread is done in time suspects it.
    let mut last = Value::Null;
    let is_refuted = (0..5).any(|_| {
        let (output, report) = hunt(&bench, "--seconds 60 --suspects --no-store -- ./word");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let is_refuted = |s: &Value| s["notes"].to_string().contains("refuted: in each of the");
        let suspects = report["suspects"].as_array().cloned().unwrap_or_default();
        last = report;
        suspects.iter().any(|s| s["kind"] == "data-race" && is_refuted(s))
    });
    assert!(is_refuted, "{last:#}");
}

/// One execution keeps four races. A search of all schedules says nothing about a fifth.
#[test]
fn a_race_that_no_execution_had_room_for_is_not_refuted() {
    let bench = Bench::new();
    let each = |value: u32| ["a", "b", "c", "d", "e", "f"].map(|v| format!("{v} = {value};\n")).concat();
    let source = format!(
        "#include <pthread.h>\nint a, b, c, d, e, f;\nstatic void *work(void *p) {{\n{}return p; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, work, 0);\n{}pthread_join(t, 0); return 0; }}",
        each(1),
        each(2)
    );
    built(&bench, "six", &source);
    let (_, report) = hunt(&bench, "--seconds 60 -- ./six");
    assert!(findings(&report).len() >= 4, "{report}");
    assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report}");
}

/// A thread that yields is held back: the schedules in which it is not are never made.
#[test]
fn a_search_that_leaves_schedules_out_refutes_nothing_and_says_why() {
    let bench = Bench::new();
    let source = r#"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
atomic_int is_done;
static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    is_done = 1;
    return unused;
}
int main(void) {
    pthread_t x;
    pthread_create(&x, 0, first, 0);
    while (!is_done)
        sched_yield();
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(x, 0);
    return 0;
}
"#;
    built(&bench, "yields", source);
    let (output, report) = hunt(&bench, "--seconds 60 --suspects -- ./yields");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = report["coverage"].to_string();
    assert!(said.contains("without being complete, so it refutes nothing"), "{report:#}");
    assert_eq!(report["stats"]["suspicions_refuted"], 0, "{report:#}");
}
