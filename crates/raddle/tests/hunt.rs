//! `raddle hunt` as its users see it.

mod common;

use common::{Bench, refused, stderr, succeed};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Two counters: one that a lock protects, and one that nothing does.
const RACE: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int guarded, bare;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
    bare++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return guarded != 2;
}
"#;

/// Two locks in two orders, but the second thread begins when the first one is done: no schedule
/// has the deadlock.
const ONE_AFTER_THE_OTHER: &str = r#"
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int is_ready;
static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
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

fn built(bench: &Bench, name: &str, source: &str) {
    bench.file(&format!("{name}.c"), source);
    bench.ok(&format!("cc -g -O1 -pthread {name}.c -o {name}"));
}

fn hunt(bench: &Bench, line: &str) -> (Output, Value) {
    let output = bench.raddle(&format!("hunt --format json {line}")).output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}\n{}", output.status, stderr(&output)));
    (output, report)
}

fn findings(report: &Value) -> &Vec<Value> {
    report["findings"].as_array().unwrap()
}

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

/// What a hunt of a program says it has covered, and its exit status.
fn covered(bench: &Bench, line: &str) -> (Option<i32>, String) {
    let (output, report) = hunt(bench, line);
    (output.status.code(), report["coverage"].to_string())
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

/// Its first two runs end well, whatever the schedule, and no later one does.
#[test]
fn a_failure_by_what_earlier_executions_left_behind_is_not_confirmed() {
    let bench = Bench::new();
    let counts = "FILE *runs = fopen(\"runs\", \"a\");\n    fputc('x', runs);\n    long n = ftell(runs);\n    \
                  fclose(runs);\n    return n > 2;";
    let fails = RACE.replace("    bare++;\n", "").replace("return guarded != 2;", counts);
    built(&bench, "leaves", &format!("#include <stdio.h>\n{fails}"));
    let (output, report) = hunt(&bench, "--seconds 30 --suspects -- ./leaves");
    assert!(findings(&report).is_empty(), "{report:#}");
    let notes: Vec<String> =
        report["suspects"].as_array().unwrap().iter().map(|s| s["notes"].to_string()).collect();
    assert!(notes.iter().any(|n| n.contains("ordinary runs without raddle failed too")), "{notes:#?}");
    assert!(report["coverage"].to_string().contains("no suspicion is refuted"), "{report:#}");
    assert_eq!(report["stats"]["exhausted"], 0, "{report:#}");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// From its third run on it fails unless its threads take turns, so a schedule that passes is one
/// in many.
#[test]
fn a_failure_that_nearly_every_schedule_shows_is_confirmed() {
    let bench = Bench::new();
    let thread = |name: &str, odd: u32| {
        format!(
            "static void *{name}(void *p) {{ for (int i = 0; i < 4; i++) {{ pthread_mutex_lock(&lock);\n\
             if (turns != 2 * i + {odd}) in_turn = 0;\nturns++; pthread_mutex_unlock(&lock); }} return p; }}\n"
        )
    };
    let source = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\nint turns, in_turn = 1;\n\
         pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n{}{}\
         int main(void) {{ FILE *runs = fopen(\"runs\", \"a\"); fputc('x', runs); long n = ftell(runs);\n\
         fclose(runs); pthread_t a, b; pthread_create(&a, 0, even, 0); pthread_create(&b, 0, odd, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0);\nassert(n <= 2 || in_turn); return 0; }}",
        thread("even", 0),
        thread("odd", 1)
    );
    built(&bench, "turns", &source);
    let (_, report) = hunt(&bench, "--seconds 60 --suspects -- ./turns");
    assert_eq!(findings(&report)[0]["kind"], "assertion", "{report:#}");
}

/// An execution leaves a file behind with which every run fails, until the fourth run without
/// raddle removes it.
#[test]
fn a_failure_by_what_was_left_behind_and_is_gone_again_is_not_confirmed() {
    let bench = Bench::new();
    let heals = "FILE *runs = fopen(\"runs\", \"a\");\n    fputc('x', runs);\n    long n = ftell(runs);\n    \
                 fclose(runs);\n    if (n == 3)\n        fclose(fopen(\"broken\", \"w\"));\n    \
                 if (!access(\"broken\", F_OK) && !getenv(\"RADDLE_SESSION\")) {\n        \
                 FILE *tries = fopen(\"tries\", \"a\");\n        fputc('x', tries);\n        \
                 if (ftell(tries) == 4)\n            unlink(\"broken\");\n        fclose(tries);\n    }\n    \
                 return !access(\"broken\", F_OK);";
    let fails = RACE.replace("    bare++;\n", "").replace("return guarded != 2;", heals);
    built(&bench, "heals", &format!("#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n{fails}"));
    let (output, report) = hunt(&bench, "--seconds 30 --suspects -- ./heals");
    assert_eq!(std::fs::read_to_string(bench.path("tries")).unwrap().len(), 4, "{report:#}");
    assert!(findings(&report).is_empty(), "{report:#}");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Loses an update in the runs without raddle that are slow. They are counted in a file, and
/// `is_slow` is about their number.
fn loses_if_slow(is_slow: &str) -> String {
    loses("hits")
        .replace("#include <assert.h>", "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>")
        .replace("int seen = hits;", "int seen = hits;\n    if (slow)\n        usleep(50000);")
        .replace("static atomic_int hits;", "static atomic_int hits;\nstatic int slow;")
        .replace(
            "pthread_t a, b;",
            &format!(
                "pthread_t a, b;\n    if (!getenv(\"RADDLE_SESSION\")) {{\n        FILE *runs = fopen(\"runs\", \"a\");\n        \
                 fputc('x', runs);\n        slow = ftell(runs) {is_slow};\n        fclose(runs);\n    }}"
            ),
        )
}

/// The first run without raddle is quick and passes, the next three are slow and fail, and so on.
/// Or no later one passes: then only other schedules show that the schedule decides.
#[test]
fn a_failure_that_shows_by_itself_in_most_runs_is_confirmed() {
    for (name, is_slow) in [("often", "% 4 != 1"), ("always", "!= 1")] {
        let bench = Bench::new();
        built(&bench, name, &loses_if_slow(is_slow));
        let (output, report) = hunt(&bench, &format!("--seconds 20 --suspects -- ./{name}"));
        assert!(findings(&report).iter().any(|f| f["kind"] == "assertion"), "{name}: {report:#}");
        assert!(!report["coverage"].to_string().contains("by now it fails"), "{report:#}");
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    }
}

/// The detector slows some threads more than others, so a look can fail where a run without raddle
/// does not, and the other way round. Here a variable that raddle sets decides which thread is
/// slow.
#[test]
fn a_failure_is_confirmed_also_if_the_look_ends_otherwise_than_runs_without_raddle() {
    let bench = Bench::new();
    let source = |is_slow: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
             #include <unistd.h>\nstatic atomic_int done;\n\
             static void *work(void *unused) {{\n    if ({is_slow}getenv(\"RADDLE_SESSION\"))\n        \
             usleep(300000);\n    done = 1;\n    return unused;\n}}\n\
             int main(void) {{\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    usleep(60000);\n    \
             assert(done);\n    pthread_join(t, 0);\n    return 0;\n}}\n"
        )
    };
    for (name, is_slow) in [("slower", ""), ("faster", "!")] {
        built(&bench, name, &source(is_slow));
        let (output, report) = hunt(&bench, &format!("--seconds 60 --suspects -- ./{name}"));
        assert!(findings(&report).iter().any(|f| f["kind"] == "assertion"), "{name}: {report:#}");
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    }
}

/// Main looks after a millisecond, and fails if the other thread is done sleeping by then. Threads
/// that all sleep at the same time lose an update.
#[test]
fn a_failure_that_needs_a_thread_to_stand_still_for_a_minutes_sleep_is_not_confirmed() {
    let bench = Bench::new();
    let source = |microseconds: &str| {
        format!(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
             static atomic_int done;\n\
             static void *work(void *unused) {{\n    usleep({microseconds});\n    done = 1;\n    return unused;\n}}\n\
             int main(void) {{\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    usleep(1000);\n    \
             if (done) abort();\n    _exit(0);\n}}\n"
        )
    };
    let together = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         static atomic_int hits;\n\
         static void *work(void *unused) {\n    sleep(1);\n    int seen = hits;\n    hits = seen + 1;\n    return unused;\n}\n\
         int main(void) {\n    pthread_t t[6];\n    for (int i = 0; i < 6; i++) pthread_create(&t[i], 0, work, 0);\n    \
         for (int i = 0; i < 6; i++) pthread_join(t[i], 0);\n    if (hits != 6) abort();\n    return 0;\n}\n";
    let programs = [
        ("minute", source("60000000"), 10, 0),
        ("moment", source("50000"), 10, 66),
        ("together", together.into(), 5, 66),
    ];
    for (name, source, seconds, status) in programs {
        built(&bench, name, &source);
        let look = |seconds: u32| hunt(&bench, &format!("--seconds {seconds} --suspects -- ./{name}"));
        let (mut output, mut report) = look(seconds);
        // A busy machine may not come to it in the time.
        if status == 66 && output.status.success() {
            (output, report) = look(60);
        }
        assert_eq!(output.status.code(), Some(status), "{name}: {report:#}");
        let is_open =
            report["suspects"].to_string().contains("stand still until a wait of seconds times out");
        assert_eq!(is_open, name == "minute", "{report:#}");
    }
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

#[test]
fn decisions_are_respected_and_a_fixed_bug_that_returns_is_a_regression() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let line = "--seconds 60 -- ./race";
    let (_, report) = hunt(&bench, line);
    let id = findings(&report)[0]["id"].as_str().unwrap().to_owned();
    assert!(bench.ok("list").starts_with(&id));
    assert!(bench.ok(&format!("show {id}")).contains("To fix it"));
    assert!(refused(&mut bench.raddle("show no-such")).contains("no finding has the id"));
    let triage = |how: &str, reason: &str| {
        succeed(bench.raddle(&format!("triage {id} --{how} --reason")).arg(reason));
    };
    triage("benign", "statistics only");
    let (output, report) = hunt(&bench, line);
    assert_eq!((output.status.code(), findings(&report).len()), (Some(0), 0), "{}", stderr(&output));
    assert_eq!(report["stats"]["accepted"], 1);
    assert!(bench.ok("list").is_empty() && bench.ok("list --all").contains("statistics only"));
    triage("fixed", "made atomic");
    let (output, report) = hunt(&bench, line);
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert_eq!(report["stats"]["regressions"], 1);
    assert!(findings(&report)[0]["notes"][0].as_str().unwrap().starts_with("a regression"));
}

/// Fails in an assertion of `main`, at the same relative line whatever is lost.
fn loses(what: &str) -> String {
    format!(
        r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int {what};
static void *work(void *unused) {{
    int seen = {what};
    {what} = seen + 1;
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert({what} == 2);
    return 0;
}}
"#
    )
}

#[test]
fn a_decision_about_one_program_does_not_reach_another_with_the_same_id() {
    let bench = Bench::new();
    built(&bench, "hits", &loses("hits"));
    built(&bench, "coins", &loses("coins"));
    // The same again with an exit status, which has no place at all, and with a race.
    let status = |what: &str| {
        loses(what).replace(&format!("assert({what} == 2);"), &format!("if ({what} != 2) return 3;"))
    };
    built(&bench, "hits_status", &status("hits"));
    built(&bench, "coins_status", &status("coins"));
    let race = RACE.replace("guarded != 2", "0");
    built(&bench, "race_one", &race);
    built(&bench, "race_two", &race);
    for (one, two, kind) in [
        ("hits", "coins", "assertion"),
        ("hits_status", "coins_status", "exit-status"),
        ("race_one", "race_two", "data-race"),
    ] {
        let hunted = |program: &str| {
            let (output, report) = hunt(&bench, &format!("--seconds 60 -- ./{program}"));
            let found = findings(&report).iter().find(|f| f["kind"] == kind).cloned();
            (output.status.code(), found)
        };
        let (code, first) = hunted(one);
        let first = first.unwrap_or_else(|| panic!("{one} has no {kind}"));
        assert_eq!(code, Some(66));
        let (id, subject) = (first["id"].as_str().unwrap(), first["subject"].as_str().unwrap());
        succeed(&mut bench.raddle(&format!("triage {id}@{subject} --benign --reason expected")));
        let (_, again) = hunted(one);
        assert!(again.is_none(), "{again:#?}");
        let (code, second) = hunted(two);
        let second = second.unwrap_or_else(|| panic!("{two} is hidden by the decision about {one}"));
        assert_eq!((code, second["id"].as_str()), (Some(66), Some(id)), "only the subject tells them apart");
        let both = refused(&mut bench.raddle(&format!("show {id}")));
        assert!(both.contains("2 findings begin with"), "{both}");
    }
}

#[test]
fn a_store_that_cannot_be_read_is_no_empty_one() {
    let bench = Bench::new();
    assert!(bench.ok("list").is_empty(), "no hunt has run");
    bench.file("file", "x");
    std::fs::create_dir(bench.path("garbage")).unwrap();
    bench.file("garbage/store.db", "this is no database, whatever its name says, and it is long enough");
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.file("empty/store.db", "");
    for store in ["missing", "file", "file/below", "garbage", "empty"] {
        for line in ["list", "list --all", "show x", "triage x --fixed --reason y", "verify x"] {
            let said = refused(bench.raddle(line).env("RADDLE_STORE", store));
            assert!(said.contains(store), "{store}, {line}: {said}");
        }
        assert_eq!(
            bench.raddle(&format!("merge {store}")).output().unwrap().status.code(),
            Some(2),
            "{store}"
        );
    }
}

#[test]
fn a_build_is_instrumented_and_a_mended_program_is_verified() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("build.sh", "cc -g -O1 -pthread race.c -o race\n");
    let built = bench.raddle("build -- sh build.sh").output().unwrap();
    assert!(built.status.success() && stderr(&built).contains("1 call of a compiler"), "{}", stderr(&built));
    let failed = bench.raddle("build -- false").output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(stderr(&failed).is_empty(), "the build says itself why it failed: {}", stderr(&failed));
    let nothing = bench.raddle("build -- true").output().unwrap();
    assert!(stderr(&nothing).contains("nothing was instrumented"), "{}", stderr(&nothing));

    let (_, report) = hunt(&bench, "--seconds 60 -- ./race");
    let id = findings(&report)[0]["id"].as_str().unwrap().to_owned();
    let verify = || bench.raddle(&format!("verify {id} --seconds 10")).output().unwrap();
    let there = verify();
    assert_eq!(there.status.code(), Some(66), "{}", stderr(&there));
    bench.file("race.c", &RACE.replace("bare++", "__atomic_fetch_add(&bare, 1, __ATOMIC_SEQ_CST)"));
    bench.ok("build -- sh build.sh");
    let mended = verify();
    assert_eq!(mended.status.code(), Some(0), "{}", stderr(&mended));
    let said = stderr(&mended);
    assert!(said.contains("was not reproduced") && !said.contains("fixed"), "{said}");
}

/// As CMake does: it writes down where the compiler is, and a later command calls it there.
#[test]
fn a_build_that_was_made_ready_by_another_command_is_instrumented() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("configure.sh", "command -v cc > found\n");
    bench.file("make.sh", "$(cat found) -g -O1 -pthread race.c -o race\n");
    bench.ok("build -- sh configure.sh");
    let built = bench.raddle("build -- sh make.sh").output().unwrap();
    assert!(built.status.success() && stderr(&built).contains("1 call of a compiler"), "{}", stderr(&built));
    let mut alone = bench.command("sh");
    let alone = alone.arg("make.sh").output().unwrap();
    assert!(alone.status.success() && stderr(&alone).is_empty(), "{}", stderr(&alone));
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

#[test]
fn two_builds_are_compared_and_one_that_was_not_hunted_is_refused() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let hunted = || hunt(&bench, "--seconds 60 -- ./race").0.status.code();
    assert_eq!(hunted(), Some(66));
    std::fs::copy(bench.path("race"), bench.path("old")).unwrap();
    let both = RACE.replace("bare++", "__atomic_fetch_add(&bare, 1, __ATOMIC_SEQ_CST); late++");
    built(&bench, "race", &both.replace("guarded, bare", "guarded, bare, late"));
    assert!(refused(&mut bench.raddle("diff old race")).contains("never hunted"));
    assert_eq!(hunted(), Some(66));
    let compared = bench.raddle("diff old race").output().unwrap();
    assert_eq!(compared.status.code(), Some(66), "{}", stderr(&compared));
    let text = String::from_utf8(compared.stdout).unwrap();
    let line = |word: &str| text.lines().find(|l| l.starts_with(word)).unwrap_or_default().to_owned();
    assert!(line("gone").contains("`bare`") && line("new").contains("`late`"), "{text}");
    let backwards = bench.raddle("diff race old").output().unwrap();
    assert_eq!(backwards.status.code(), Some(66), "what is gone is new the other way round");
    assert!(refused(&mut bench.raddle("diff old old")).contains("the same build"));
}

#[test]
fn what_was_confirmed_outlives_a_hunt_that_is_killed() {
    let bench = Bench::new();
    // Endless work behind the race: the hunt goes on until it is killed.
    let endless = RACE.replace(
        "guarded++;",
        "for (int i = 0; i < 40; i++) { pthread_mutex_unlock(&lock); pthread_mutex_lock(&lock); } guarded++;",
    );
    built(&bench, "long", &endless);
    let mut hunt =
        bench.raddle("hunt --minutes 5 -- ./long").stderr(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufReader::new(hunt.stderr.take().unwrap());
    let told = std::io::BufRead::lines(lines).map_while(Result::ok).find(|l| l.contains("confirmed after"));
    hunt.kill().unwrap();
    hunt.wait().unwrap();
    assert!(told.unwrap_or_default().contains("`bare`"));
    let listed = bench.ok("list");
    assert!(listed.starts_with("data-race-") && listed.contains("`bare`"), "{listed}");
    let id = listed.split_whitespace().next().unwrap();
    assert!(bench.ok(&format!("show {id}")).contains("raddle replay"));
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
