//! What bad targets get from `raddle explore`: a clear sentence, a bounded run, nothing hung.

mod common;

use common::Bench;
use serde_json::Value;

/// There is one schedule, which was made. That nothing was found in it says nothing of
/// interleavings.
#[track_caller]
fn has_no_threads(text: &str, status: &str) {
    let bench = Bench::new();
    let target = bench.build_text("alone", text);
    bench.explores_nothing(&[&target], &[status, "no thread", "nothing to interleave"]);
}

#[test]
fn no_threads_at_all() {
    has_no_threads("int main(void) { return 3; }", "status 3");
}

#[test]
fn a_program_that_never_comes_to_a_thread() {
    let bench = Bench::new();
    let target = bench.build_text("asleep", "#include <unistd.h>\nint main(void) { for (;;) pause(); }");
    bench.refuses_to_explore("--seconds 4 --patience 1", &[&target], &["no thread in 1 s", "--patience"]);
}

#[test]
fn a_program_that_waits_for_input_gets_none() {
    has_no_threads("#include <stdio.h>\nint main(void) { return getchar() == EOF ? 7 : 0; }", "status 7");
}

#[test]
fn no_such_program_and_no_program() {
    let bench = Bench::new();
    bench.refuses_to_explore("", &["./absent"], &["no program `./absent`"]);
    bench.file("text", "hello");
    bench.refuses_to_explore("", &["./text"], &["`./text` is not executable"]);
}

#[test]
fn options_that_make_no_sense() {
    let bench = Bench::new();
    for options in
        ["--strategy best", "--seconds 0", "--seconds x", "--schedules 0", "--jobs 0", "--max-steps 1"]
    {
        bench.refuses_to_explore(options, &["./x"], &["raddle"]);
    }
    bench.file("folder", "");
    let target = bench.build_text("alone", "int main(void) { return 0; }");
    bench.refuses_to_explore("--schedules-to folder", &[&target], &["cannot make the folder folder"]);
}

/// A loop without a scheduling point: nobody can take control of it.
const SPINS: &str = r#"
#include <pthread.h>
volatile int never;
static void *spin(void *p) {
    for (;;) __asm__ volatile("");
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, spin, 0);
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn a_thread_that_computes_for_ever_is_no_hang_and_can_not_be_explored() {
    let bench = Bench::new();
    let target = bench.build_text("spins", SPINS);
    bench.refuses_to_explore("--seconds 6 --patience 2", &[&target], &["computes", "--seconds"]);
}

/// Processor time is what is asked for, not time: the machine may be busy.
const COMPUTES: &str = r#"
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
static void *compute(void *p) {
    struct timespec t;
    do {
        for (int i = 0; i < 100000; i++) __asm__ volatile("");
        syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec < 3);
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, compute, 0);
    return pthread_join(t, 0);
}
"#;

#[test]
fn seconds_of_computation_between_two_steps_are_no_hang() {
    let bench = Bench::new();
    let target = bench.build_text("computes", COMPUTES);
    let done = bench.explore("--seconds 60 --patience 2 --schedules 1 --fork", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.stderr);
}

const SERVER: &str = r#"
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int stop;
static void *serve(void *p) {
    pthread_mutex_lock(&m);
    while (!stop) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(int argc, char **argv) {
    pthread_t t;
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&t, 0, serve, 0);
    if (argc > 1) raise(SIGTERM);
    sigwait(&set, &got);
    pthread_mutex_lock(&m);
    stop = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return pthread_join(t, 0);
}
"#;

#[test]
fn a_server_that_ends_by_a_signal_is_no_deadlock() {
    let bench = Bench::new();
    let target = bench.build_text("server", SERVER);
    bench.refuses_to_explore("--seconds 6", &[&target], &["from outside", "raise"]);
    let done = bench.explore("--seconds 20", &[&target, "itself"]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.stderr);
}

const NEVER_DONE: &str = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned long n;
static void *count(void *p) {
    for (;;) {
        pthread_mutex_lock(&m);
        n++;
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, count, 0);
    return pthread_join(t, 0);
}
"#;

#[test]
fn work_without_end_is_no_hang_and_can_not_be_explored() {
    let bench = Bench::new();
    let target = bench.build_text("counts", NEVER_DONE);
    bench.refuses_to_explore("--seconds 20 --max-steps 2000", &[&target], &["2000 steps", "--max-steps"]);
}

const LEAVES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *nothing(void *p) { return p; }
int main(int argc, char **argv) {
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    pthread_join(t, 0);
    syscall(SYS_exit_group, argc - 1);
    return 9;
}
"#;

#[test]
fn a_program_that_leaves_by_a_system_call_did_not_die() {
    let bench = Bench::new();
    let target = bench.build_text("leaves", LEAVES);
    for options in ["--seconds 20", "--seconds 20 --fork"] {
        let done = bench.explore(options, &[&target]);
        assert_eq!((done.status, done.kinds().len()), (0, 0), "{options}: {}", done.stderr);
    }
}

const CHATTERS: &str = r#"
#include <pthread.h>
#include <stdio.h>
static void *chatter(void *p) {
    char line[4096];
    for (int i = 0; i < 4095; i++) line[i] = 'x';
    line[4095] = 0;
    for (int i = 0; i < 200; i++) puts(line);
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, chatter, 0);
    chatter(0);
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn what_a_program_prints_goes_nowhere() {
    let bench = Bench::new();
    let target = bench.build_text("chatters", CHATTERS);
    let done = bench.explore("--seconds 5", &[&target]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.is_empty());
    assert!(!done.stderr.contains("xxxx"));
}

/// By a system call that nobody sees.
const KILLED: &str = r#"
#include <pthread.h>
#include <unistd.h>
static void *work(void *p) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(62), "D"(getpid()), "S"(9) : "rcx", "r11", "memory");
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
"#;

#[test]
fn a_process_that_dies_is_a_crash_and_the_search_survives_it() {
    let bench = Bench::new();
    let target = bench.build_text("killed", KILLED);
    let found = bench.explore("--seconds 30 --keep-going --schedules 3", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["crash"]), "{}", found.stderr);
    assert!(found.findings()[0]["message"].as_str().unwrap().contains("died"));
}

/// A program of the corpus, built by the plain compiler.
fn plain(bench: &Bench, name: &str) -> String {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/suite").join(name);
    let mut build = bench.command("gcc");
    build.args(["-g", "-O1", "-pthread"]).arg(file).arg("-o").arg(bench.path("plain"));
    common::succeed(&mut build);
    "./plain".into()
}

#[test]
fn without_instrumentation_what_is_called_is_explored_and_what_is_not_seen_is_said() {
    let bench = Bench::new();
    let target = plain(&bench, "check_then_act_bad.c");
    let found = bench.explore("--seconds 20", &[&target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    for part in ["`./plain` is not instrumented", "a copy of its machine code"] {
        assert!(found.stderr.contains(part), "`{part}` is not in: {}", found.stderr);
    }
    // What starts it may be a script. A shell is there to start others, so nothing is copied.
    let found = bench.explore("--seconds 20", &["sh", "-c", &target]);
    assert_eq!((found.status, found.kinds()), (66, vec!["assertion"]), "{}", found.stderr);
    for part in ["is not instrumented", "were not seen", "raddle cc"] {
        assert!(found.stderr.contains(part), "`{part}` is not in: {}", found.stderr);
    }
    let schedule = found.findings()[0]["schedule"].as_str().unwrap().to_owned();
    let again = bench.raddle(&format!("replay --trust --times 5 {schedule}")).output().unwrap();
    let said = common::stderr(&again);
    assert!(said.contains("5 of 5 replays failed as expected"), "{said}");
}

#[test]
fn without_instrumentation_a_right_program_passes() {
    let bench = Bench::new();
    let target = plain(&bench, "check_then_act_ok.c");
    let done = bench.explore("--seconds 20", &["sh", "-c", &target]);
    assert_eq!((done.status, done.stat("exhausted")), (0, &Value::from(false)), "{}", done.stderr);
    assert!(done.stat("not_complete").as_str().unwrap().contains("is not instrumented"));
}

const STARTS_ANOTHER: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *p) { return p; }
int main(int n, char **words) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    // The same program again, with a thread of its own: it is not the one that is explored.
    if (n == 1 && system("./starts again") != 0) abort();
    pthread_join(t, 0);
    (void)words;
    return 0;
}
"#;

#[test]
fn an_instrumented_program_that_the_target_starts_runs_as_it_is() {
    let bench = Bench::new();
    let target = bench.build_text("starts", STARTS_ANOTHER);
    let done = bench.explore("--seconds 20 --schedules 3", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}", done.stderr);
    assert_eq!(done.stat("threads_max"), &Value::from(2));
}

const OPENMP: &str = r#"
#include <pthread.h>
#include <stdio.h>
static void *work(void *p) { return p; }
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(1)
    for (int i = 0; i < 10; i++) sum += i;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return sum != 45;
}
"#;

#[test]
fn a_library_with_system_calls_of_its_own_is_named() {
    let bench = Bench::new();
    bench.file("omp.c", OPENMP);
    bench.ok("cc --use clang-19 -g -O1 -fopenmp -pthread omp.c -o omp");
    let done = bench.explore("--seconds 10 --patience 2", &["./omp"]);
    assert!(done.stderr.contains("libomp") && done.stderr.contains("not seen"), "{}", done.stderr);
}

const DOACROSS: &str = r#"
int line[4];
int main(void) {
#pragma omp parallel for ordered(1) num_threads(2) schedule(static, 1)
    for (int i = 1; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    return 0;
}
"#;

/// The kernel takes all logical threads for one, and so for the owner of each other's locks.
#[test]
fn a_futex_that_has_an_owner_is_refused() {
    let bench = Bench::new();
    let text = include_str!("../../../corpus/race/primitives/futex_owner_ok.c");
    let target = bench.build_text("owner", text);
    bench.refuses_to_explore("--seconds 30", &[&target], &["FUTEX_LOCK_PI"]);
}

#[test]
fn openmp_that_is_not_scheduled_is_refused() {
    let bench = Bench::new();
    bench.file("doacross.c", DOACROSS);
    bench.ok("cc --use gcc -g -O1 -fopenmp doacross.c -o doacross");
    bench.refuses_to_explore("--seconds 10", &["./doacross"], &["OpenMP", "depend"]);
}

#[test]
fn a_program_that_crashes_before_its_first_thread() {
    let bench = Bench::new();
    let target =
        bench.build_text("early", "int main(int n, char **v) { return *(volatile int *)(long)(n - 1); }");
    bench.refuses_to_explore("--seconds 20", &[&target], &["SIGSEGV", "before it created a thread"]);
}
