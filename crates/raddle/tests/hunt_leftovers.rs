//! Failures that `raddle hunt` confirms or leaves open: what earlier executions left behind, and what
//! needs a thread to stand still.

mod common;
mod hunting;

use common::{Bench, stderr};
use hunting::{RACE, built, findings, hunt, loses};

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
