//! The same for shared libraries that nobody built for raddle, in programs that were built for it
//! and in programs that were not.

use crate::common::run::DetectedRun;
use crate::common::{Bench, succeed};

/// A library that calls back. Its counter has no lock, or one.
const WORKER: &str = "#include <pthread.h>
int counter, guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef RIGHT
#define LOCK pthread_mutex_lock(&lock)
#define UNLOCK pthread_mutex_unlock(&lock)
#else
#define LOCK
#define UNLOCK
#endif
__attribute__((noinline)) static void bump(void) { LOCK; counter++; UNLOCK; }
void work(int n, void (*call)(int)) {
    for (int i = 0; i < n; i++) {
        bump();
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
        call(i);
    }
}
int result(void) { return guarded; }
";

/// Its callback has a race too, or none.
const CALLER: &str = "#include <pthread.h>
#include <stdio.h>
void work(int, void (*)(int));
int result(void);
int called;
#ifdef RIGHT
__attribute__((noinline)) static void call(int i) { (void)i; }
#else
__attribute__((noinline)) static void call(int i) { called += i; }
#endif
static void *thread(void *a) { work(1000, call); return a; }
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, thread, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf(\"%d\\n\", result());
    return 0;
}
";

/// A constructor that starts a thread, thread-local data, jump tables, computed gotos, longjmp over
/// frames of the program, a function that is chosen when it is loaded, and one that the program has
/// too.
const RIGHT_LIBRARY: &str = "#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static int constructed;
static _Thread_local int mine;
static atomic_int count;
static _Thread_local jmp_buf back;
static void *begin(void *a) { constructed++; return a; }
__attribute__((constructor)) static void load(void) {
    pthread_t t;
    pthread_create(&t, 0, begin, 0);
    pthread_join(t, 0);
    constructed += 40;
}
int by_table(int x) {
    switch (x % 8) {
    case 0: return 3; case 1: return x * 7; case 2: return x ^ 55; case 3: return x - 9;
    case 4: return 100 - x; case 5: return x << 3; case 6: return x | 64; default: return -x;
    }
}
int by_goto(const char *program) {
    static void *const labels[] = {&&add, &&twice, &&end};
    int x = 1;
    goto *labels[(int)*program++];
add: x += 5; goto *labels[(int)*program++];
twice: x *= 2; goto *labels[(int)*program++];
end: return x;
}
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*choose(void))(void) { return constructed == 0 ? two : one; }
int chosen(void) __attribute__((ifunc(\"choose\")));
int overridden(void) { return 7; }
int jumps(void (*call)(void)) {
    if (setjmp(back) == 0) call();
    return mine++;
}
void jump(void) { longjmp(back, 1); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int all(void) {
    int order[50], sum = 0;
    for (int i = 0; i < 50; i++) order[i] = i * 37 % 50;
    qsort(order, 50, sizeof *order, compare);
    for (int i = 0; i < 500; i++) sum += by_table(i) + order[i % 50] * (i % 3);
    atomic_fetch_add(&count, 1);
    return sum + by_goto(\"\\0\\1\\0\\2\") * 10000 + overridden() * 1000000 + chosen() + constructed;
}
int counted(void) { return atomic_load(&count); }
";

const RIGHT_PROGRAM: &str = "#include <pthread.h>
#include <stdio.h>
int all(void), counted(void), jumps(void (*)(void));
void jump(void);
int overridden(void) { return 9; }
__attribute__((noinline)) static void leave(void) { jump(); }
static void *thread(void *a) {
    int *to = a;
    for (int i = 0; i < 20; i++) *to = all() + jumps(leave);
    return a;
}
int main(void) {
    pthread_t t[2];
    int result[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, thread, &result[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf(\"%d %d %d\\n\", result[0], result[1], counted());
    return 0;
}
";

/// Exceptions of the program through frames of the library, caught there and here.
const THROUGH: &str = "#include <atomic>
#include <stdexcept>
std::atomic<int> destroyed;
struct Counts { ~Counts() { destroyed++; } };
__attribute__((noinline)) int deep(int n, void (*call)()) {
    Counts counts;
    if (n == 0) call();
    return deep(n - 1, call) + 1;
}
int guard(int n, void (*call)()) {
    try {
        return deep(n, call);
    } catch (const std::logic_error &) {
        return 1000;
    }
}
int count() { return destroyed; }
";

const THROWS: &str = "#include <cstdio>
#include <stdexcept>
#include <thread>
int guard(int n, void (*call)());
int count();
int counter;
static void logic() { throw std::logic_error(\"logic\"); }
static void other() { throw std::runtime_error(\"other\"); }
static void work(int *to) {
    counter++;
    for (int i = 0; i < 50; i++) {
        *to += guard(i % 5, logic);
        try {
            guard(i % 5, other);
        } catch (const std::runtime_error &) {
            *to += 7;
        }
    }
}
int main() {
    int a = 0, b = 0;
    std::thread first(work, &a), second(work, &b);
    first.join();
    second.join();
    std::printf(\"%d %d %d\\n\", a, b, count());
}
";

/// A library and a program that is linked with it, each by its own command.
struct Pair<'a> {
    bench: &'a Bench,
    /// Words before the arguments.
    library: [&'a str; 2],
    program: Vec<&'a str>,
    flags: &'a [&'a str],
}

impl Pair<'_> {
    /// Builds both, runs the program with and without raddle, and compares what it prints.
    #[track_caller]
    fn watched(&self, options: &str, files: [(&str, &str); 2]) -> DetectedRun {
        let [library, program] = files;
        let bench = self.bench;
        bench.file(library.0, library.1);
        bench.file(program.0, program.1);
        let common = [&["-g", "-pthread"], self.flags].concat();
        let [compiler, level] = self.library;
        let shared = [level, "-shared", "-fPIC", library.0, "-o", "libwork.so"];
        succeed(bench.command(compiler).args(&common).args(shared));
        let mut build = match self.program[..] {
            ["raddle", wrapper] => bench.raddle(wrapper),
            _ => bench.command(self.program[0]),
        };
        let linked = [level, program.0, "-o", "program", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN"];
        succeed(build.args(&common).args(linked));
        self.run(options, &["./program"])
    }

    #[track_caller]
    fn run(&self, options: &str, command: &[&str]) -> DetectedRun {
        let plain = succeed(self.bench.command(command[0]).args(&command[1..]));
        let mut run = self.bench.run_command(&format!("{options} --format json -o report.json"), command);
        let outcome = self.bench.outcome(run.env("RADDLE_POISON", "1").output().unwrap());
        assert_eq!(outcome.stdout, plain, "{}", outcome.stderr);
        outcome
    }
}

fn plain<'a>(bench: &'a Bench, compiler: &'a str, level: &'a str, flags: &'a [&'a str]) -> Pair<'a> {
    Pair { bench, library: [compiler, level], program: vec![compiler], flags }
}

fn names(access: &serde_json::Value) -> Vec<&str> {
    access["stack"].as_array().unwrap().iter().filter_map(|f| f["function"].as_str()).collect()
}

fn confidence<'a>(outcome: &'a DetectedRun, variable: &str) -> &'a str {
    let finding = outcome.findings().iter().find(|f| f["message"].as_str().unwrap().contains(variable));
    finding.unwrap()["confidence"].as_str().unwrap()
}

#[test]
fn a_race_in_a_library_is_suspected_with_the_stacks_of_both_files() {
    let bench = Bench::new();
    for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O1")] {
        let pair = plain(&bench, compiler, level, &[]);
        let outcome = pair.watched("", [("worker.c", WORKER), ("caller.c", CALLER)]);
        outcome.assert_races(&["called", "counter"]);
        assert_eq!(confidence(&outcome, "`counter`"), "suspected");
        let told = "libwork.so is not instrumented: raddle watches a copy of its machine code, 3 of 3";
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
        for finding in outcome.findings() {
            for access in finding["accesses"].as_array().unwrap() {
                let names = names(access);
                assert!(
                    names[..3] == ["bump", "work", "thread"] || names[..3] == ["call", "work", "thread"],
                    "{names:?}"
                );
            }
        }
    }
    let right = plain(&bench, "gcc", "-O2", &["-DRIGHT"]);
    let outcome = right.watched("", [("worker.c", WORKER), ("caller.c", CALLER)]);
    assert_eq!((outcome.status, outcome.findings().len()), (0, 0), "{:#}", outcome.report["findings"]);
}

#[test]
fn libraries_are_chosen_by_name_or_left_alone() {
    let bench = Bench::new();
    let pair = plain(&bench, "gcc", "-O1", &[]);
    let files = [("worker.c", WORKER), ("caller.c", CALLER)];
    pair.watched("--instrument libwo*,libz.so", files).assert_races(&["called", "counter"]);
    for options in ["--instrument program", "--instrument libother*"] {
        let outcome = pair.run(options, &["./program"]);
        outcome.assert_races(&["called"]);
        assert!(!outcome.stderr.contains("libwork.so is not instrumented: raddle"), "{}", outcome.stderr);
    }
    let output = bench.run_command("--instrument everything", &["./program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", crate::common::stderr(&output));
}

/// A program that starts threads only through a library, as compressors do.
const POOL: &str = "
#include <pthread.h>
int done;
static void *work(void *argument) {
    done++;
    return argument;
}
void finish(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
";
const CLIENT: &str = "
void finish(void);
int main(void) {
    finish();
    return 0;
}
";

#[test]
fn a_program_whose_library_starts_threads_is_watched() {
    let bench = Bench::new();
    let outcome = plain(&bench, "gcc", "-O1", &[]).watched("", [("pool.c", POOL), ("client.c", CLIENT)]);
    outcome.assert_races(&["done"]);
}

#[test]
fn right_libraries_are_silent_and_do_what_they_do() {
    let bench = Bench::new();
    for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O3"), ("clang-19", "-O2")] {
        let pair = plain(&bench, compiler, level, &[]);
        let outcome = pair.watched("", [("right.c", RIGHT_LIBRARY), ("uses.c", RIGHT_PROGRAM)]);
        assert_eq!(outcome.status, 0, "{compiler} {level}: {:#}", outcome.report["findings"]);
    }
}

/// The corpus' plug-in is loaded, used and removed eleven times. It has one race.
#[test]
fn a_plugin_is_watched_from_its_constructor_to_its_end() {
    let bench = Bench::new();
    bench.file("plugin.c", include_str!("../../../../corpus/multi/plugin/plugin.c"));
    bench.file("host.c", include_str!("../../../../corpus/multi/plugin/main.c"));
    let flags = ["-g", "-O1", "-pthread"];
    succeed(bench.command("gcc").args(flags).args(["-shared", "-fPIC", "plugin.c", "-o", "plugin.so"]));
    succeed(bench.command("gcc").args(flags).args(["host.c", "-o", "host", "-ldl"]));
    let outcome = plain(&bench, "gcc", "-O1", &[]).run("", &["./host", "./plugin.so"]);
    outcome.assert_races(&["raced"]);
    for access in outcome.findings()[0]["accesses"].as_array().unwrap() {
        assert_eq!(names(access)[0], "plugin_race");
    }
    assert!(outcome.stderr.contains("plugin.so is not instrumented: raddle watches"), "{}", outcome.stderr);
}

#[test]
fn exceptions_pass_through_libraries() {
    let bench = Bench::new();
    for (compiler, level) in [("g++", "-O0"), ("g++", "-O2"), ("clang++-19", "-O1")] {
        let pair = plain(&bench, compiler, level, &[]);
        let outcome = pair.watched("", [("through.cc", THROUGH), ("throws.cc", THROWS)]);
        // The atomic counter may order the two.
        assert!(outcome.variables().iter().all(|v| *v == "counter"), "{:#}", outcome.report["findings"]);
        let told = "not watched, because atomic loads and stores look like plain ones there: libstdc++";
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    }
}

/// The program is built with raddle, the library is not.
#[test]
fn a_plain_library_of_an_instrumented_program_is_watched_if_so_wanted() {
    let bench = Bench::new();
    let mixed = |wrapper, flags| Pair {
        bench: &bench,
        library: ["gcc", "-O1"],
        program: vec!["raddle", wrapper],
        flags,
    };
    let files = [("worker.c", WORKER), ("caller.c", CALLER)];
    let outcome = mixed("cc", &[]).watched("--instrument all", files);
    outcome.assert_races(&["called", "counter"]);
    assert_eq!(
        [confidence(&outcome, "`called`"), confidence(&outcome, "`counter`")],
        ["confirmed", "suspected"]
    );
    mixed("cc", &[]).run("", &["./program"]).assert_races(&["called"]);
    let outcome = mixed("cc", &["-DRIGHT"]).watched("--instrument all", files);
    assert_eq!(outcome.status, 0, "{:#}", outcome.report["findings"]);
    // Exceptions find their way through the copies of the library and of the C++ library.
    let mut pair = mixed("c++", &[]);
    pair.library[0] = "g++";
    let outcome = pair.watched("--instrument all", [("through.cc", THROUGH), ("throws.cc", THROWS)]);
    assert!(outcome.variables().iter().all(|v| *v == "counter"), "{:#}", outcome.report["findings"]);
    assert!(outcome.stderr.contains("libstdc++.so.6"), "{}", outcome.stderr);
}

#[test]
fn a_library_that_cannot_be_watched_is_named() {
    let bench = Bench::new();
    bench.file("text.s", ".globl f\n.type f, @function\nf: movabs $f, %rax\n ret\n.size f, .-f\n");
    succeed(bench.command("gcc").args(["-shared", "-Wl,-z,notext", "text.s", "-o", "libtext.so"]));
    bench.file("worker.c", WORKER);
    bench.file("caller.c", CALLER);
    let arguments = ["-g", "-pthread", "worker.c", "caller.c", "-o", "program", "-L."];
    let linked = ["-Wl,--no-as-needed", "-ltext", "-Wl,-rpath,$ORIGIN"];
    succeed(bench.command("gcc").args(arguments).args(linked));
    let outcome = plain(&bench, "gcc", "-O1", &[]).run("", &["./program"]);
    outcome.assert_races(&["called", "counter"]);
    let told = "libtext.so is not watched: the loader writes to its code";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
}
