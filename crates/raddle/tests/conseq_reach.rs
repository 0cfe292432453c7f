//! `raddle conseq` on what it does not reach in its usual way: programs that cannot be scheduled,
//! a server and the script that ends it, the tests of a test program.

mod common;

use common::explore::{Searched, within};
use common::{Bench, look_again};
use std::process::Stdio;
use std::time::Duration;

impl Bench {
    /// Builds C++ from a text.
    fn build_cxx(&self, name: &str, text: &str) -> String {
        let file = self.file(&format!("{name}.cc"), text);
        let mut build = self.raddle("c++ --use g++ -g -O1 -pthread");
        common::succeed(build.arg(file).arg("-o").arg(self.path(name)));
        format!("./{name}")
    }

    #[track_caller]
    fn conseq(&self, options: &str, target: &[&str]) -> Searched {
        let mut command = self.raddle("conseq");
        command.args(["--format", "json", "-o", "report.json"]).args(options.split_whitespace());
        command.arg("--").args(target).env("TMPDIR", self.session_folder()).stdin(Stdio::null());
        self.searched(within(Duration::from_secs(120), &mut command))
    }

    /// The same until it has a finding, at most five times. Delays are tried in ordinary runs: one
    /// that fails without any, or that is late, shows that nothing can be tested with them.
    #[track_caller]
    fn conseq_by_luck(&self, options: &str, target: &[&str]) -> Searched {
        look_again(|done: &Searched| done.status == 66, || self.conseq(options, target))
    }
}

/// A thread waits by a system call of its own, which the scheduler does not see; `WHAT` is done
/// beside it.
const UNSEEN: &str = r#"
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int turn;
static long futex(int *at, int op, int value) {
    long r;
    register long r10 __asm__("r10") = 0;
    __asm__ volatile("syscall" : "=a"(r) : "a"(SYS_futex), "D"(at), "S"(op), "d"(value), "r"(r10) : "rcx", "r11", "memory");
    return r;
}
static void *waiter(void *a) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 0) futex(&turn, FUTEX_WAIT, 0);
    return a;
}
WHAT
int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, waiter, 0);
    before();
    pthread_create(&r, 0, beside, 0);
    after();
    usleep(300000);
    __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
    futex(&turn, FUTEX_WAKE, 1);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
"#;

fn unseen(what: &str) -> String {
    UNSEEN.replace("WHAT", what)
}

#[test]
fn what_can_not_be_scheduled_is_traced_as_it_runs_and_tried_with_delays() {
    let bench = Bench::new();
    let early = "static int *config, value = 7;\n\
                 static void before(void) {}\n\
                 static void *beside(void *a) { usleep(150000); assert(config != 0); return a; }\n\
                 static void after(void) { config = &value; }\n";
    let target = bench.build_text("early", &unseen(early));
    let done = bench.conseq_by_luck("--patience 2", &[&target]);
    assert_eq!((done.status, done.kinds()), (66, vec!["assertion"]), "{}", done.stderr);
    assert!(done.stderr.contains("Without the scheduler it ends"), "{}", done.stderr);
    assert_eq!(done.stat("scheduled"), false);
    let finding = &done.findings()[0];
    assert!(finding["schedule"].is_null() && finding["confidence"] == "confirmed", "{finding:#}");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("may come too early, before early.c:"), "{message}");
    let functions: Vec<&str> = finding["accesses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["stack"][0]["function"].as_str().unwrap())
        .collect();
    assert_eq!(functions, ["beside", "beside", "after"], "the site, the read, the write that comes too late");
}

#[test]
fn its_correct_twin_is_not_confirmed() {
    let bench = Bench::new();
    let ordered = "static int *config, value = 7;\n\
                   static void before(void) { config = &value; }\n\
                   static void *beside(void *a) { assert(config != 0); return a; }\n\
                   static void after(void) {}\n";
    let target = bench.build_text("ordered", &unseen(ordered));
    let done = bench.conseq("--patience 2", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}\n{}", done.report, done.stderr);
    assert_eq!(done.stat("suspects"), 0, "the creation of the thread orders them");
}

/// The block is freed by `main` while a thread may still use it; nothing crashes.
const FREED: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int *session;
static volatile int seen;
__attribute__((noinline)) static void use(void) { seen = session[0]; }
static void *worker(void *a) {
    use();
    return a;
}
int main(void) {
    pthread_t t;
    session = malloc(64);
    session[0] = 1;
    pthread_create(&t, 0, worker, 0);
    usleep(WAIT);
    JOIN_BEFORE;
    free(session);
    JOIN_AFTER;
    return 0;
}
"#;

#[test]
fn delays_try_freed_memory_too() {
    let bench = Bench::new();
    let join = "pthread_join(t, 0)";
    let bad = FREED.replace("WAIT", "100000").replace("JOIN_BEFORE", "").replace("JOIN_AFTER", join);
    let target = bench.build_text("freed", &bad);
    let done = bench.conseq_by_luck("--tester delays --sites memory", &[&target]);
    let confirmed = done.findings().iter().find(|f| f["confidence"] == "confirmed");
    let finding = confirmed.unwrap_or_else(|| panic!("{}\n{}", done.report, done.stderr));
    assert_eq!(finding["kind"], "use-after-free", "{finding:#}");
    assert!(finding["message"].as_str().unwrap().starts_with("freed memory is accessed"));
    let good = FREED.replace("WAIT", "1000").replace("JOIN_BEFORE", join).replace("JOIN_AFTER", "");
    let target = bench.build_text("joined", &good);
    let done = bench.conseq("--tester delays --sites memory", &[&target]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}\n{}", done.report, done.stderr);
}

/// A server of two clients, which only a signal ends.
const SERVER: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static int one = 1;
static int *volatile cache = &one;
static void *serve(void *a) {
    int fd = (int)(long)a;
    char c;
    while (read(fd, &c, 1) == 1) {
        if (c == 'c') {
            cache = 0;
            cache = &one;
        } else if (cache) {
            assert(cache != 0);
        }
        if (write(fd, &c, 1) != 1) break;
    }
    close(fd);
    return 0;
}
int main(void) {
    struct sockaddr_un at = { AF_UNIX, "socket" };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(at.sun_path);
    bind(listener, (void *)&at, sizeof at);
    listen(listener, 5);
    for (;;) {
        pthread_t t;
        pthread_create(&t, 0, serve, (void *)(long)accept(listener, 0, 0));
        pthread_detach(t);
    }
}
"#;

/// Its clients, in one process that nobody instruments.
const CLIENTS: &str = r#"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static int to_server(void) {
    struct sockaddr_un at = { AF_UNIX, "socket" };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    for (int i = 0; i < 500 && connect(fd, (void *)&at, sizeof at); i++) usleep(10000);
    return fd;
}
int main(void) {
    int a = to_server(), b = to_server();
    char c;
    for (int i = 0; i < 20; i++)
        if (write(a, "c", 1) != 1 || write(b, "r", 1) != 1 || read(a, &c, 1) != 1 || read(b, &c, 1) != 1) return 1;
    return 0;
}
"#;

#[test]
fn a_server_and_the_script_that_ends_it_are_looked_at_as_a_whole() {
    let bench = Bench::new();
    bench.build_text("server", SERVER);
    bench.file("clients.c", CLIENTS);
    let built = std::process::Command::new("cc")
        .args(["-O1", "clients.c", "-o", "clients"])
        .current_dir(bench.path(""))
        .status();
    assert!(built.unwrap().success());
    bench.script(
        "check",
        "#!/bin/sh\nrm -f socket\n./server & p=$!\n./clients; r=$?\nkill $p\nwait $p 2>/dev/null\nexit $r\n",
    );
    let done = bench.conseq_by_luck("--seconds 30 --patience 2 --sites assert", &["./check"]);
    assert!(done.stderr.contains("looked at as a whole"), "{}", done.stderr);
    let is = |f: &&serde_json::Value| f["confidence"] == "confirmed" && f["kind"] == "assertion";
    let found = done.findings().iter().find(is);
    assert!(found.is_some(), "{}\n{}", done.report, done.stderr);
}

/// What a program made with GoogleTest does with its arguments, and the name by which it is known.
const TESTS: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
const char *known_by = "_ZN7testing8internal23MakeAndRegisterTestInfo";
const char *volatile url = "x";
static void *ui(void *a) {
    if (url) assert(url != 0);
    return a;
}
static void *loader(void *a) {
    url = 0;
    return a;
}
static void *nothing(void *a) { return a; }
static int both(void *(*f)(void *), void *(*g)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, f, 0);
    pthread_create(&b, 0, g, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "--gtest_list_tests")) {
        puts("Ui.\n  Shows\n  Rests\n  Alone");
        return 0;
    }
    if (!strcmp(word, "--gtest_filter=Ui.Shows")) return both(ui, loader);
    if (!strcmp(word, "--gtest_filter=Ui.Rests")) return both(nothing, nothing);
    if (!strcmp(word, "--gtest_filter=Ui.Alone")) return 0;
    return known_by[0] + 3;
}
"#;

#[test]
fn the_tests_of_a_test_program_are_looked_at_one_by_one() {
    let bench = Bench::new();
    let target = bench.build_text("tests", TESTS);
    let done = bench.conseq("--sites assert", &[&target]);
    assert_eq!((done.status, done.kinds()), (66, vec!["assertion"]), "{}", done.stderr);
    assert_eq!((done.stat("tests"), done.stat("sites")), (&3.into(), &1.into()), "the sites are shared");
    let note = done.findings()[0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("in the test `Ui.Shows` of `"), "{note}");
    assert!(done.stderr.contains("1 of 3 tests create no thread"), "{}", done.stderr);
    assert_eq!(bench.replay("", done.schedule()).status, 66, "that test alone");
    let whole = bench.conseq("--whole", &[&target]);
    assert!(whole.stderr.contains("created no thread"), "{}", whole.stderr);
    // The tests of a program that another command starts are looked at likewise.
    bench.script("all", "#!/bin/sh\n./tests >/dev/null\nexit 0\n");
    let suite = bench.conseq("--sites assert", &["./all"]);
    assert_eq!((suite.status, suite.kinds()), (66, vec!["assertion"]), "{}", suite.stderr);
    assert!(suite.findings()[0]["notes"].to_string().contains("Ui.Shows"));
}

/// Tests of libtest: two that lose an update, two that do not, two that use one file in turn, and one
/// without threads.
const OF_LIBTEST: &str = r#"
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
fn add(n: &AtomicU32) {
    let now = n.load(SeqCst);
    n.store(now + 1, SeqCst);
}
fn twice(f: &(dyn Fn() + Sync)) {
    std::thread::scope(|s| {
        s.spawn(f);
        s.spawn(f);
    });
}
#[test]
fn loses_one() {
    let n = AtomicU32::new(0);
    twice(&|| add(&n));
    assert_eq!(n.load(SeqCst), 2);
}
#[test]
fn loses_another() {
    let n = AtomicU32::new(5);
    twice(&|| add(&n));
    assert_eq!(n.load(SeqCst), 7);
}
#[test]
fn counts() {
    let n = AtomicU32::new(0);
    twice(&|| drop(n.fetch_add(1, SeqCst)));
    assert_eq!(n.load(SeqCst), 2);
}
#[test]
fn locks() {
    let n = Mutex::new(0);
    twice(&|| *n.lock().unwrap() += 1);
    assert_eq!(*n.lock().unwrap(), 2);
}
#[test]
fn is_alone() {
    assert_eq!(1 + 1, 2);
}
static FILE: Mutex<()> = Mutex::new(());
fn keep(text: &str) {
    let _guard = FILE.lock().unwrap();
    std::fs::write("kept.txt", text).unwrap();
    let n = AtomicU32::new(0);
    twice(&|| drop(n.fetch_add(1, SeqCst)));
    assert_eq!((n.load(SeqCst), &*std::fs::read_to_string("kept.txt").unwrap()), (2, text));
}
#[test]
fn keeps_a_file() {
    keep("one");
}
#[test]
fn keeps_it_too() {
    keep("two");
}
"#;

/// Tests of libtest may share what a process has, such as a lock that guards a file, so they are looked
/// at one after the other.
#[test]
fn tests_of_libtest_are_looked_at_one_after_the_other() {
    let bench = Bench::new();
    bench.file("tests.rs", OF_LIBTEST);
    common::succeed(&mut bench.raddle("rustc --edition 2021 --test -g -Copt-level=1 tests.rs -o tests"));
    let mut command = bench.raddle("conseq --format json -o report.json --sites assert -- ./tests");
    command.env("TMPDIR", bench.session_folder()).stdin(Stdio::null());
    let done = bench.searched(within(Duration::from_secs(120), &mut command));
    assert_eq!(done.status, 66, "{}\n{}", done.report, done.stderr);
    let tests: Vec<&str> = done.findings().iter().map(|f| f["notes"][0].as_str().unwrap()).collect();
    let of = |name: &str| tests.iter().filter(|t| t.contains(&format!("test `{name}`"))).count();
    assert!(of("loses_one") > 0 && of("loses_another") > 0, "{tests:?}");
    assert_eq!((of("counts"), of("locks")), (0, 0), "{tests:?}");
    assert_eq!((of("keeps_a_file"), of("keeps_it_too")), (0, 0), "{tests:?}");
    assert_eq!(done.stat("tests"), &7);
    assert!(done.stderr.contains("1 of 7 tests create no thread"), "{}", done.stderr);
    let n = |key: &str| done.stat(key).as_u64().unwrap();
    let ends = ["pairs_confirmed", "pairs_refuted", "pairs_shown", "pairs_open"].map(n);
    assert!(
        ends[0] > 0 && n("pairs") == ends.iter().sum::<u64>() && n("pairs") <= n("suspects"),
        "{}",
        done.report
    );
}

/// A test of Catch2's form: the library gets the expression with its result, and decides.
const CHECKED: &str = r#"
#include <mutex>
#include <thread>
namespace Catch {
struct ITransientExpression {
    bool result;
    int left, right;
};
struct AssertionHandler {
    int failed = 0;
    void handleExpr(ITransientExpression const &e);
};
__attribute__((noinline)) void AssertionHandler::handleExpr(ITransientExpression const &e) { failed += !e.result; }
}
struct Account {
    std::mutex lock;
    int balance = 0;
    int get() {
        std::lock_guard<std::mutex> guard(lock);
        return balance;
    }
    void set(int b) {
        std::lock_guard<std::mutex> guard(lock);
        balance = b;
    }
    void add(int b) { ADD; }
} account;
int main() {
    std::thread a([] { account.add(1); }), b([] { account.add(2); });
    a.join();
    b.join();
    Catch::AssertionHandler handler;
    int balance = account.get();
    handler.handleExpr(Catch::ITransientExpression{balance == 3, balance, 3});
    return handler.failed;
}
"#;

#[test]
fn a_check_that_the_library_decides_is_a_site() {
    let bench = Bench::new();
    let lost = bench.build_cxx("lost", &CHECKED.replace("ADD", "set(get() + b)"));
    let done = bench.conseq("--sites assert", &[&lost]);
    assert_eq!((done.status, done.kinds()), (66, vec!["exit-status"]), "{}", done.stderr);
    let finding = &done.findings()[0];
    assert_eq!(finding["confidence"], "confirmed", "{finding:#}");
    let kept = CHECKED.replace("ADD", "std::lock_guard<std::mutex> guard(lock); balance += b");
    let kept = bench.build_cxx("kept", &kept);
    let done = bench.conseq("--sites assert", &[&kept]);
    assert_eq!((done.status, done.kinds().len()), (0, 0), "{}\n{}", done.report, done.stderr);
}

#[test]
fn a_tool_that_starts_nothing_instrumented_is_not_looked_at_itself() {
    let bench = Bench::new();
    let done = common::refused(
        bench
            .raddle("conseq")
            .arg("--")
            .arg("true")
            .env("TMPDIR", bench.session_folder())
            .stdin(Stdio::null()),
    );
    assert!(done.contains("nothing in `") && done.contains("is instrumented"), "{done}");
}

/// The second region finds what the first has left, and `copyprivate` hands a value to the others
/// of a team.
const REGIONS: &str = r#"
#include <assert.h>
int width, seen[2];
static int from_one(void) {
    int value;
#pragma omp single copyprivate(value)
    value = 7;
    return value;
}
int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        width = 5;
    }
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 2; i++) seen[i] = width;
#pragma omp parallel num_threads(2)
    assert(from_one() == 7);
    assert(seen[0] == 5 && seen[1] == 5);
    return 0;
}
"#;

#[test]
fn what_openmp_hands_over_comes_in_order() {
    let bench = Bench::new();
    let file = bench.file("regions.c", REGIONS);
    let mut build = bench.raddle("cc --use gcc -g -O1 -fopenmp");
    common::succeed(build.arg(file).arg("-o").arg(bench.path("regions")));
    let done = bench.conseq("--sites assert", &["./regions"]);
    assert_eq!((done.status, done.stat("suspects")), (0, &0.into()), "{}\n{}", done.report, done.stderr);
    assert_eq!(done.stat("scheduled"), true);
}

/// A cargo that only says how it was started.
#[test]
fn cargo_raddle_runs_nothing_in_between_where_another_raddle_watches() {
    let bench = Bench::new();
    bench.script("cargo", "#!/bin/sh\n[ \"$1\" = metadata ] || cat /proc/$PPID/comm\nexit 0\n");
    let parent = |session: bool| {
        let mut command = bench.raddle("cargo test");
        command.env("CARGO", bench.path("cargo")).stdin(Stdio::null());
        if session {
            command.env("RADDLE_SESSION", bench.session_folder());
        }
        let out = command.output().expect("raddle");
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    assert_eq!(parent(false), "raddle", "watched by `raddle run`");
    assert_ne!(parent(true), "raddle", "cargo has taken the place of `cargo raddle`");
}
