//! Files in, findings out: several files, edits, cancelling, ignoring, lenses, entries.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use raddle_check::c::Includes;
use raddle_check::entries::EntryKind;
use raddle_check::{Budget, CheckOptions, CheckOutcome, Session, Source, check_sources};
use raddle_finding::{AccessOp, Confidence, Kind, Location};

const RACE: &str = "#include <pthread.h>\nint n;\nstatic void *f(void *a) {\n    n++;\n    return 0;\n}\n\
    int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    n = 2;\n    pthread_join(t, 0);\n}\n";

fn check(sources: &[(&str, &str)]) -> CheckOutcome {
    let sources: Vec<Source> = sources.iter().map(|(p, t)| Source::new(p, t)).collect();
    check_sources(&sources, &CheckOptions::default())
}

#[test]
fn a_race_has_two_ends_and_a_trace() {
    let out = check(&[("a.c", RACE)]);
    assert_eq!(out.findings.len(), 1);
    let f = &out.findings[0];
    assert_eq!((f.kind, f.confidence), (Kind::DataRace, Confidence::Suspected));
    assert_eq!(f.accesses.len(), 2);
    let mut lines: Vec<_> = f.accesses.iter().map(|a| a.stack[0].line.unwrap_or(0)).collect();
    lines.sort_unstable();
    assert_eq!(lines, [4, 10]);
    assert!(matches!(&f.location, Some(Location::Global { name, line: Some(2), .. }) if name == "n"));
    let started = f.threads.iter().find(|t| t.label == "T1 (f)").expect("the thread is named");
    assert_eq!(started.created_by.as_deref(), Some("T0 (main)"));
    assert_eq!(started.stack[0].line, Some(9), "models are stepped over");
    assert_eq!(started.stack[0].function.as_deref(), Some("main"));
    assert!(f.notes.iter().any(|n| n.starts_with("seed ")));
    assert!(f.occurrences > 0);
    assert!(f.id.starts_with("data-race-"), "{}", f.id);
}

/// Two threads pass a barrier that code outside the run initialised. What it orders is not known.
#[test]
fn a_race_behind_an_unknown_barrier_is_a_guess() {
    let program = |access: &str| {
        format!(
            "#include <pthread.h>\nextern int next_request(void);\npthread_barrier_t barrier;\n\
             static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int n;\n\
             static void *work(void *a) {{ pthread_barrier_wait(&barrier); {access} return 0; }}\n\
             static void begin(int kind) {{ pthread_t a, b; if (kind != 7) return;\n\
             pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);\n\
             pthread_join(a, 0); pthread_join(b, 0); }}\nstatic const int never = 0;\n\
             int main(void) {{ if (never) begin(next_request()); return 0; }}\n"
        )
    };
    let kinds = |access: &str| {
        let out = check(&[("a.c", &program(access))]);
        let of = |list: &[raddle_finding::Finding]| list.iter().map(|f| f.kind).collect::<Vec<_>>();
        (of(&out.findings), of(&out.guesses))
    };
    let (findings, guesses) = kinds("n++;");
    assert_eq!(findings, []);
    assert!(!guesses.is_empty() && guesses.iter().all(|k| *k == Kind::DataRace), "{guesses:?}");
    assert_eq!(kinds("pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);"), (vec![], vec![]));
    // A barrier says nothing of locks.
    assert_eq!(kinds("pthread_mutex_unlock(&m);").0, [Kind::UnlockNotHeld]);
}

/// A handler waits for a lock of the thread that it interrupts, wherever that was interrupted.
const HANDLER_LOCKS: &str = "#include <pthread.h>\n#include <signal.h>\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int a, b, c;\n\
    static void handler(int s) {\n    pthread_mutex_lock(&lock);\n    pthread_mutex_unlock(&lock);\n}\n\
    int main(void) {\n    signal(SIGINT, handler);\n    pthread_mutex_lock(&lock);\n\
    for (int i = 0; i < 40; i++) {\n        a++;\n        b++;\n        c++;\n    }\n\
    pthread_mutex_unlock(&lock);\n}\n";

#[test]
fn a_handler_that_waits_for_an_interrupted_threads_lock_is_one_deadlock() {
    let deadlocks = |text: &str| {
        let out = check(&[("a.c", text)]);
        out.findings.iter().filter(|f| f.kind == Kind::Deadlock).count()
    };
    assert_eq!(deadlocks(HANDLER_LOCKS), 1);
    // A second place that takes the lock is a second cause.
    let (before, end) = HANDLER_LOCKS.rsplit_once("pthread_mutex_unlock").expect("it is unlocked");
    let again = "pthread_mutex_unlock(&lock);\n    pthread_mutex_lock(&lock);\n\
        for (int i = 0; i < 40; i++) {\n        a++;\n        b++;\n    }\n";
    let twice = format!("{before}{again}pthread_mutex_unlock{end}");
    assert_eq!(deadlocks(&twice), 2, "{twice}");
}

#[test]
fn bit_fields_are_named_by_those_that_are_accessed() {
    let program = |a: &str, b: &str| {
        format!(
            "#include <pthread.h>\nstatic struct {{ unsigned all : 1; unsigned busy : 1; unsigned done : 9; }} s;\n\
             static void *f(void *p) {{ s.{a} = 1; return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); s.{b} = 1; pthread_join(t, 0); }}\n"
        )
    };
    let message = |a: &str, b: &str| {
        let out = check(&[("a.c", &program(a, b))]);
        assert_eq!(out.findings.len(), 1, "{a} and {b}");
        out.findings[0].message.clone()
    };
    assert!(message("done", "done").contains("data race on `s.done`:"), "{}", message("done", "done"));
    let two = message("busy", "done");
    assert!(two.contains("`s.busy`") && two.contains("`s.done`") && !two.contains("`s.all`"), "{two}");
    assert!(two.contains("which share their bytes"), "{two}");
}

#[test]
fn locks_held_and_the_repair_are_named() {
    let text = "#include <pthread.h>\nstatic pthread_mutex_t lock; static int n;\n\
        static void *f(void *a) { pthread_mutex_lock(&lock); n++; pthread_mutex_unlock(&lock); return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); n = 2; pthread_join(t, 0); }\n";
    let out = check(&[("a.c", text)]);
    let f = &out.findings[0];
    assert_eq!(f.locks.len(), 1);
    assert_eq!(f.locks[0].name.as_deref(), Some("lock"));
    assert_eq!(f.locks[0].taken[0].stack[0].line, Some(3));
    assert!(f.accesses.iter().any(|a| a.locks == ["L1"]));
    assert!(f.notes.iter().any(|n| n.contains("hold `lock`")), "{:?}", f.notes);
}

#[test]
fn files_are_one_program_with_their_linkage() {
    let a = "#include <pthread.h>\nextern int shared; void *worker(void *);\nstatic int mine;\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); shared = 1; mine = 1; pthread_join(t, 0); }\n";
    let b = "int shared; static int mine;\nvoid *worker(void *a) { shared = 2; mine = 2; return 0; }\n";
    let out = check(&[("a.c", a), ("b.c", b)]);
    assert_eq!(out.findings.len(), 1, "`mine` is two variables");
    let mut files: Vec<_> = out.findings[0].accesses.iter().filter_map(|a| a.stack[0].file.clone()).collect();
    files.sort();
    assert_eq!(files, ["a.c", "b.c"]);
}

#[test]
fn each_main_is_a_program_of_its_own() {
    let lib = "int n; void set(int x) { n = x; }\n";
    let good = "void set(int); int main(void) { set(1); }\n";
    let out = check(&[("lib.c", lib), ("good.c", good), ("bad.c", RACE)]);
    assert_eq!(out.findings.len(), 1);
    assert_eq!(out.checked.iter().filter(|c| c.kind == EntryKind::Main).count(), 2);
}

#[test]
fn a_focus_leaves_other_programs_alone() {
    let good = Source::new("good.c", "int main(void) { return 0; }\n");
    let bad = Source::new("bad.c", RACE);
    let about = |focus: &str| {
        let options = CheckOptions { focus: Some(focus.into()), ..CheckOptions::default() };
        check_sources(&[good.clone(), bad.clone()], &options)
    };
    let out = about("good.c");
    assert_eq!((out.findings.len(), out.stats.entries, out.stats.files), (0, 1, 2));
    assert_eq!(about("bad.c").findings.len(), 1);
    assert_eq!(about("neither.c").stats.entries, 0);
}

#[test]
fn a_program_has_the_files_it_uses_and_a_library_the_rest() {
    let one = "int a(void); int main(void) { return a(); }\n";
    let two = "extern int shared; int main(void) { return shared; }\n";
    let a = "extern int shared; int a(void) { return shared; }\n";
    let shared = "int shared = 3;\n";
    let unused = RACE.replace("int main(void)", "int nobody_calls(void)");
    let out =
        check(&[("one.c", one), ("two.c", two), ("a.c", a), ("shared.c", shared), ("unused.c", &unused)]);
    assert_eq!(out.findings.len(), 1, "found once, in the library");
    let kinds: Vec<_> = out.checked.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [EntryKind::Main, EntryKind::Main, EntryKind::Exported]);
}

#[test]
fn only_what_changed_is_lowered_again() {
    let mut session = Session::new(CheckOptions::default());
    let a = Source::new("a.c", RACE);
    let b = Source::new("b.c", "int other(void) { return 3; }\n");
    assert_eq!(session.check(&[a.clone(), b.clone()], None).stats.lowered, 2);
    assert_eq!(session.check(&[a.clone(), b.clone()], None).stats.lowered, 0);
    let fixed = Source::new("a.c", RACE.replace("    n = 2;\n", ""));
    let out = session.check(&[fixed, b], None);
    assert_eq!(out.stats.lowered, 1);
    assert!(out.findings.is_empty(), "the race is gone");
}

#[test]
fn a_builds_macros_count() {
    let text = RACE.replace("    n = 2;\n", "#ifdef RACY\n    n = 2;\n#endif\n");
    let source = Source::new("a.c", &text);
    assert!(check_sources(std::slice::from_ref(&source), &CheckOptions::default()).findings.is_empty());
    let racy = source.with_macros(vec![("RACY".into(), Some("1".into()))]);
    assert_eq!(check_sources(&[racy], &CheckOptions::default()).findings.len(), 1);
}

#[test]
fn a_file_lowered_elsewhere_is_not_lowered_again() {
    let mut session = Session::new(CheckOptions::default());
    let source = Source::new("a.c", RACE);
    assert!(session.is_stale(&source));
    let options = session.options.clone();
    let elsewhere = source.clone();
    let lowered = std::thread::spawn(move || elsewhere.lower(&options)).join().expect("lowered");
    session.adopt(&source, lowered);
    assert!(!session.is_stale(&source));
    let out = session.check(&[source], None);
    assert_eq!((out.stats.lowered, out.findings.len()), (0, 1));
}

struct OneHeader;
impl Includes for OneHeader {
    fn find(&self, _: &str, name: &str, _: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        (name == "h.h").then(|| ("h.h".into(), b"extern int n;\n#define SET n = 1\n".as_slice().into()))
    }
}

#[test]
fn a_changed_header_makes_its_includers_stale() {
    let mut session = Session::new(CheckOptions { includes: Arc::new(OneHeader), ..CheckOptions::default() });
    let a = Source::new("a.c", "#include \"h.h\"\nint n; int main(void) { SET; }\n");
    session.check(std::slice::from_ref(&a), None);
    session.forget("h.h");
    assert_eq!(session.check(std::slice::from_ref(&a), None).stats.lowered, 1);
}

#[test]
fn the_same_source_gives_the_same_findings() {
    let first = check(&[("a.c", RACE)]);
    let second = check(&[("a.c", RACE)]);
    assert_eq!(first.findings, second.findings);
    assert_eq!(first.stats, second.stats);
}

#[test]
fn a_cancelled_check_returns_soon() {
    let endless = "#include <pthread.h>\nint n; void *f(void *a) { for (;;) n++; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); for (;;) ; }\n";
    let budget = Budget { steps: u64::MAX / 2, runs: u32::MAX, ..Budget::default() };
    let mut session = Session::new(CheckOptions { budget, ..CheckOptions::default() });
    let cancel = AtomicBool::new(true);
    let started = Instant::now();
    session.check(&[Source::new("a.c", endless)], Some(&cancel));
    // Uncancelled it never ends.
    assert!(started.elapsed() < Duration::from_secs(300));
}

#[test]
fn a_line_can_be_ignored_with_a_reason() {
    let with = |comment: &str| check(&[("a.c", &RACE.replace("n = 2;", &format!("n = 2; {comment}")))]);
    let out = with("// raddle: ignore only a statistic");
    assert!(out.findings.is_empty());
    assert_eq!(out.ignored[0].1, "only a statistic");
    assert_eq!(with("// raddle: ignore").findings.len(), 1, "a reason is needed");
}

#[test]
fn lenses_say_what_was_done() {
    let out = check(&[("a.c", RACE)]);
    let lens = out.checked.iter().find(|c| c.function == "main").expect("main has a lens");
    assert_eq!((lens.line, lens.threads), (7, 2));
    assert!(lens.lens().starts_with("checked, 2 threads, "), "{}", lens.lens());
}

#[test]
fn entries_are_main_tests_exports_and_the_middle() {
    let kinds = |path: &str, text: &str| -> Vec<(EntryKind, String)> {
        check(&[(path, text)]).checked.into_iter().map(|c| (c.kind, c.function)).collect()
    };
    let start = "#include <pthread.h>\nstatic void *f(void *a) { return 0; }\n";
    let library = format!(
        "{start}void api(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); }} static int hidden(void) {{ return 1; }}\n"
    );
    assert_eq!(kinds("lib.c", &library), [(EntryKind::Exported, "api".to_string())]);
    let test = format!("{start}static void test_it(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); }}\n");
    assert_eq!(kinds("test_x.c", &test), [(EntryKind::Test, "test_it".to_string())]);
    let unused = format!(
        "{start}static void spawn(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); }}\nint main(void) {{ return 0; }}\n"
    );
    assert_eq!(
        kinds("m.c", &unused),
        [(EntryKind::Main, "main".to_string()), (EntryKind::Middle, "spawn".to_string())]
    );
}

#[test]
fn a_start_in_the_middle_relies_on_nothing() {
    // Whether `list` is set is not known there; what it leads to is not either, and gives no
    // finding.
    let text = "#include <pthread.h>\nstatic int *list; static int count; static pthread_mutex_t *lock;\n\
        static void *f(void *a) { if (list) { pthread_mutex_lock(lock); list[0]++; pthread_mutex_unlock(lock); } return 0; }\n\
        static void spawn(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (list) { list[0]--; } count++; }\n\
        int main(void) { return 0; }\n";
    assert!(check(&[("a.c", text)]).findings.is_empty());
    let racy = text.replace("list[0]++;", "count++;").replace("pthread_mutex_lock(lock);", "");
    assert_eq!(check(&[("a.c", &racy)]).findings.len(), 1);
}

#[test]
fn a_deadlock_names_every_wait() {
    let text = "#include <pthread.h>\nstatic pthread_mutex_t a, b;\n\
        static void *f(void *x) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return 0; }\n\
        static void *g(void *x) { pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return 0; }\n\
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); pthread_join(s, 0); pthread_join(t, 0); }\n";
    let out = check(&[("a.c", text)]);
    assert_eq!(out.findings.len(), 1);
    let f = &out.findings[0];
    assert_eq!(f.kind, Kind::Deadlock);
    assert!(f.accesses.iter().all(|a| a.op == AccessOp::Lock && a.locks.len() == 1));
    for wait in ["waits for `a`", "waits for `b`"] {
        assert!(f.notes.iter().any(|n| n.contains(wait)), "{:?}", f.notes);
    }
}

#[test]
fn preprocessed_text_is_reported_at_its_origin() {
    let text = format!(
        "# 1 \"real.c\"\n# 1 \"<built-in>\"\n# 100 \"real.c\"\n{}",
        RACE.replace("#include <pthread.h>\n", "")
    );
    let text = format!("typedef unsigned long pthread_t;\n{text}");
    let out = check(&[("a.i", &text)]);
    let frame = &out.findings[0].accesses[0].stack[0];
    assert_eq!(frame.file.as_deref(), Some("real.c"));
    assert!(frame.line.is_some_and(|l| l >= 100));
}

/// The promise to an editor, with a wide margin for slow machines and unoptimised builds.
#[test]
fn files_of_a_thousand_lines_are_quick() {
    let mut single = String::new();
    for i in 0..250 {
        single += &format!(
            "int f{i}(int x) {{\n    int s = 0;\n    for (int i = 0; i < x; i++) s += i * {i};\n    return s; }}\n"
        );
    }
    let calls: String = (0..250).map(|i| format!("f{i}(9);")).collect();
    let single = format!("{single}int main(void) {{ {calls} }}\n");
    let started = Instant::now();
    let out = check(&[("single.c", &single)]);
    let took = started.elapsed();
    assert_eq!(out.stats.runs, 1);
    let limit = if cfg!(debug_assertions) { 120_000 } else { 400 };
    assert!(took < Duration::from_millis(limit), "{took:?}");
}

/// The tests of each framework as they are written, without its header.
#[test]
fn tests_of_the_common_frameworks_are_entries() {
    let start = "#include <pthread.h>\nstatic int n;\nstatic void *f(void *a) { n++; return 0; }\n";
    let body = "{ pthread_t t; pthread_create(&t, 0, f, 0); n++; pthread_join(t, 0);";
    let frameworks = [
        (
            "Check",
            format!(
                "#include <check.h>\nSTART_TEST(test_it)\n{body} ck_assert_int_eq(n, 2); }}\nEND_TEST\nint main(void) {{ \
            Suite *s = suite_create(\"s\"); TCase *c = tcase_create(\"c\"); tcase_add_test(c, test_it); suite_add_tcase(s, c); return 0; }}"
            ),
        ),
        (
            "CMocka",
            format!(
                "#include <cmocka.h>\nstatic void test_it(void **state) {body} assert_int_equal(n, 2); }}\nint main(void) {{ \
            const struct CMUnitTest tests[] = {{ cmocka_unit_test(test_it) }}; return cmocka_run_group_tests(tests, NULL, NULL); }}"
            ),
        ),
        (
            "Unity",
            format!(
                "#include \"unity.h\"\nvoid test_it(void) {body} TEST_ASSERT_EQUAL(2, n); }}\n\
            int main(void) {{ UNITY_BEGIN(); RUN_TEST(test_it); return UNITY_END(); }}"
            ),
        ),
        (
            "µnit",
            format!(
                "#include \"munit.h\"\nstatic MunitResult test_it(const MunitParameter params[], void *data) {body} \
            munit_assert_int(n, ==, 2); return MUNIT_OK; }}\nint main(int argc, char **argv) {{ return munit_suite_main(&suite, 0, argc, argv); }}"
            ),
        ),
        ("plain", format!("int test_it(void) {body} return 0; }}")),
    ];
    for (name, text) in frameworks {
        let out = check(&[("tests/test_it.c", &format!("{start}{text}\n"))]);
        let entry = out.checked.iter().find(|c| c.function == "test_it");
        assert!(
            entry.is_some_and(|e| e.kind == EntryKind::Test && e.threads == 2),
            "{name}: {:?}",
            out.checked
        );
        assert_eq!(out.findings.len(), 1, "{name}");
    }
}
