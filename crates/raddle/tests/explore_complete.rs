//! Where `raddle explore` says that it is complete, the program can end in no other way than those
//! it has seen: random racy programs in C and in Rust, held against brute force at the granularity
//! of single accesses.

mod common;
mod racy;

use std::collections::BTreeSet;
use std::ops::Range;

use common::{Bench, succeed};
use racy::Program;

/// The strategies that claim it.
const STRATEGIES: [&str; 5] = ["portfolio", "preemption", "delay", "dfs", "states"];

const SEEDS: &str = "RADDLE_COMPLETE_SEEDS";

/// Why no search of machine code is complete, and none of a racy one. If there is no other reason,
/// all interleavings of the accesses have been made.
const MACHINE_CODE: &str = "machine code does not tell all of a program: which memory of a stack frame is shared, and which \
     accesses are atomic or were merged by the compiler, is only guessed";
const RACY: &str = "threads access the same memory without synchronisation, machine code does not say whether by \
     atomic operations, and results that no interleaving has were not tried";

/// What a search claims that has seen all, and one of machine code that could not see more.
const COMPLETE: &str = "complete";
const NOTHING_LEFT: &str = "nothing is left to try";

/// Explores a program with each strategy. What the searches claimed: the two above, each of them
/// rightly, or why they are not complete.
fn check(bench: &Bench, program: &Program, text: &str) -> Vec<String> {
    let expected = program.outcomes();
    let mut claims = Vec::new();
    for (i, strategy) in STRATEGIES.iter().enumerate() {
        bench.file("outcomes", "");
        let options = format!("--strategy {strategy} --seed {i} --schedules 2000");
        let found = bench.explore(&options, &["./racy"]);
        let seen: BTreeSet<u8> = std::fs::read(bench.path("outcomes")).unwrap().into_iter().collect();
        let told = format!("{strategy}: {}\n{text}", found.report["stats"]);
        assert!(found.kinds().is_empty() && found.stat("fork") == false, "{told}");
        assert!(seen.is_subset(&expected), "{seen:?} of {expected:?}\n{told}");
        let why = found.report["stats"]["not_complete"].as_str();
        let by_machine_code = why.and_then(|w| w.strip_prefix(MACHINE_CODE));
        let has_made_all = by_machine_code.is_some_and(|rest| rest.is_empty() || rest == format!("; {RACY}"));
        if found.stat("exhausted") == true || has_made_all {
            assert_eq!(seen, expected, "{told}");
            claims.push(if has_made_all { NOTHING_LEFT } else { COMPLETE }.into());
        } else {
            claims.push(why.unwrap_or("not at its end").into());
        }
    }
    claims
}

/// A search that claims nothing shows nothing. Most of the usual programs are small enough.
fn most_are(claim: &str, claims: &[String]) {
    let complete = claims.iter().filter(|c| *c == claim).count();
    println!("{complete} of {} searches: {claim}", claims.len());
    let wanted = if std::env::var_os(SEEDS).is_some() { 0 } else { claims.len() / 2 };
    assert!(complete > wanted, "{claims:#?}");
}

/// The seeds of the programs. `RADDLE_COMPLETE_SEEDS=100..150` asks for others, and more of them.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(asked) = std::env::var(SEEDS) else { return usual };
    let (from, to) = asked.split_once("..").expect("RADDLE_COMPLETE_SEEDS is FROM..TO");
    from.parse().expect("a number")..to.parse().expect("a number")
}

fn c(compiler: &str, usual: Range<u64>) {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(usual) {
        let program = Program::random(seed);
        let text = program.c();
        let file = bench.file("racy.c", &text);
        let mut build = bench.raddle(&format!("cc --use {compiler} -g -O0 -pthread"));
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are(COMPLETE, &claims);
}

#[test]
fn racy_programs_in_c() {
    c("gcc", 0..5);
}

#[test]
fn racy_programs_in_c_by_clang() {
    c("clang-19", 8..11);
}

/// The search of states gives up in programs whose calls it does not know.
fn some_by_states_are_complete(claims: &[String]) {
    let by_states = claims.chunks(STRATEGIES.len()).map(|of_program| &of_program[STRATEGIES.len() - 1]);
    let complete = by_states.clone().filter(|claim| *claim == COMPLETE).count();
    println!("{complete} of {} searches of states", by_states.count());
    assert!(complete > 0 || std::env::var_os(SEEDS).is_some(), "{claims:#?}");
}

#[test]
fn racy_programs_with_the_threads_of_c11() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(24..27) {
        let program = Program::random(seed);
        let text = program.c11();
        let file = bench.file("racy.c", &text);
        let mut build = bench.raddle("cc --use gcc -g -O0 -pthread");
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are(COMPLETE, &claims);
    some_by_states_are_complete(&claims);
}

#[test]
fn racy_programs_with_the_threads_of_cxx() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(28..31) {
        let program = Program::random(seed);
        let text = program.cxx();
        let file = bench.file("racy.cc", &text);
        let mut build = bench.raddle("c++ --use g++ -g -O0 -pthread");
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are(COMPLETE, &claims);
    some_by_states_are_complete(&claims);
}

#[test]
fn racy_programs_in_rust() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(12..15) {
        let program = Program::random(seed);
        let text = program.rust();
        let file = bench.file("racy.rs", &text);
        let mut build = bench.raddle("rustc --edition 2021 -g");
        succeed(build.arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    most_are(COMPLETE, &claims);
}

/// Without optimisation the accesses of the machine code are those of the source. Their searches
/// make all interleavings, and never claim to be complete.
#[test]
fn racy_programs_in_machine_code() {
    let bench = Bench::new();
    let mut claims = Vec::new();
    for seed in seeds(16..20) {
        let program = Program::random(seed);
        let text = program.c();
        let file = bench.file("racy.c", &text);
        let mut build = bench.command("gcc");
        succeed(build.args(["-g", "-O0", "-pthread"]).arg(file).arg("-o").arg(bench.path("racy")));
        claims.extend(check(&bench, &program, &text));
    }
    assert!(!claims.iter().any(|c| c == COMPLETE), "{claims:#?}");
    most_are(NOTHING_LEFT, &claims);
}

/// Every way to read a clock that is a call.
const CLOCKS: [&str; 6] = [
    "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec;",
    "struct timespec t; syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec;",
    "struct timeval t; syscall(SYS_gettimeofday, &t, 0); return t.tv_sec * 1000000L + t.tv_usec;",
    "return clock();",
    "struct tms t; times(&t); return t.tms_utime;",
    "struct rusage r; getrusage(RUSAGE_SELF, &r); return r.ru_utime.tv_sec * 1000000L + r.ru_utime.tv_usec;",
];

/// Two threads, of which the second does `between`; they run at the same time, or one after the
/// other.
fn reads_clocks(clock: &str, between: &str, starts: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <sys/resource.h>\n#include <sys/syscall.h>\n\
         #include <sys/time.h>\n#include <sys/times.h>\n#include <time.h>\n#include <unistd.h>\n\
         long begins, between, ends;\nstatic long now(void) {{ {clock} }}\n\
         void *one(void *p) {{ begins = now(); ends = now(); return p; }}\n\
         void *two(void *p) {{ between = {between}; return p; }}\n\
         int main(void) {{ pthread_t a, b; {starts}\n\
         assert(!(begins < between && between < ends)); return 0; }}\n"
    )
}

/// Reading a clock is no scheduling point, so no search lets the second thread read it between the
/// two reads of the first. If only one thread reads it, or one after the other, there is nothing to
/// come between.
#[test]
fn a_search_is_not_complete_if_several_threads_read_a_clock() {
    const AT_ONCE: &str = "pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0); pthread_join(a, 0); pthread_join(b, 0);";
    const IN_TURN: &str = "pthread_create(&a, 0, one, 0); pthread_join(a, 0); pthread_create(&b, 0, two, 0); pthread_join(b, 0);";
    let bench = Bench::new();
    let look = |clock: &str, between: &str, starts: &str, strategies: &[&str], is_complete: bool| {
        bench.file("clocks.c", &reads_clocks(clock, between, starts));
        succeed(&mut bench.raddle("cc -g -pthread clocks.c -o clocks"));
        for strategy in strategies {
            let found = bench.explore(&format!("--strategy {strategy} --schedules 2000"), &["./clocks"]);
            let told = format!("{strategy}, {clock}, {between}, {starts}: {}", found.report["stats"]);
            // The search of states gives up in programs that read clocks.
            let claims = is_complete && *strategy != "states";
            assert!(found.kinds().is_empty() && found.stat("exhausted") == claims, "{told}");
        }
    };
    look(CLOCKS[0], "now()", AT_ONCE, &STRATEGIES, false);
    look(CLOCKS[0], "1", AT_ONCE, &STRATEGIES, true);
    for clock in CLOCKS {
        look(clock, "now()", AT_ONCE, &STRATEGIES[..1], false);
        look(clock, "now()", IN_TURN, &STRATEGIES[..1], true);
    }
}

/// What differs from run to run, and what no schedule decides.
const CHANCES: [&str; 14] = [
    "return __rdtsc();",
    "unsigned which; return __rdtscp(&which);",
    // Not every processor has these. They count where they stand.
    "unsigned long long n = 0; if (sink) __asm__ volatile(\"rdrand %0\" : \"=r\"(n)); return n;",
    "unsigned n = 0; if (sink) __asm__ volatile(\"rdseed %0\" : \"=r\"(n)); return n;",
    "long n = 0; if (sink) __asm__ volatile(\"rdpid %0\" : \"=r\"(n)); return n;",
    "long n; getrandom(&n, sizeof n, 0); return n;",
    "long n; syscall(SYS_getrandom, &n, sizeof n, 0); return n;",
    "long n; getentropy(&n, sizeof n); return n;",
    "return sched_getcpu();",
    "unsigned n; syscall(SYS_getcpu, &n, 0, 0); return n;",
    "double n; getloadavg(&n, 1); return n * 1000;",
    "struct sysinfo n; sysinfo(&n); return n.freeram;",
    "return sysconf(_SC_AVPHYS_PAGES);",
    "long n = 0; FILE *f = fopen(\"/proc/self/stat\", \"r\"); n = fgetc(f); fclose(f); return n;",
];

/// What looks like one of these and is none: the bytes of `rdtsc` in an operand, and numbers for a
/// hash table.
const NO_CHANCES: [&str; 3] = [
    "volatile long n = 0x310f310f; return n;",
    "long n; getrandom(&n, sizeof n, GRND_INSECURE); return n;",
    "return sysconf(_SC_PAGESIZE);",
];

/// One thread asks while the other one runs, so each execution gets another answer.
#[test]
fn a_search_is_not_complete_if_threads_ask_for_what_differs_from_run_to_run() {
    let bench = Bench::new();
    for (i, chance) in CHANCES.iter().chain(&NO_CHANCES).enumerate() {
        let text = format!(
            "#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
             #include <sys/random.h>\n#include <sys/syscall.h>\n#include <sys/sysinfo.h>\n#include <unistd.h>\n\
             #include <x86intrin.h>\nvolatile long sink;\nstatic long ask(void) {{ {chance} }}\n\
             void *one(void *p) {{ sink = ask(); return p; }}\n\
             int main(void) {{ pthread_t a; pthread_create(&a, 0, one, 0); pthread_join(a, 0); return 0; }}\n"
        );
        bench.file("chance.c", &text);
        succeed(&mut bench.raddle("cc -g -pthread chance.c -o chance"));
        let found = bench.explore("--schedules 2000", &["./chance"]);
        let told = format!("{chance}: {}", found.report["stats"]);
        assert!(found.kinds().is_empty(), "{told}");
        assert_eq!(found.stat("exhausted"), i >= CHANCES.len(), "{told}");
    }
}
