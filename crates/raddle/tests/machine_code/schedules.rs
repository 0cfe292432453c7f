//! `raddle explore` on programs that nobody built for it: it schedules a copy of their machine
//! code.

use super::common::explore::Searched;
use super::common::{Bench, succeed};

/// Two threads count without a lock.
const LOST: &str = "#include <assert.h>
#include <pthread.h>
int counter;
static void *add(void *p) { counter++; return p; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
";

/// With one.
const GUARDED: &str = "#include <assert.h>
#include <pthread.h>
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *p) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
";

/// By an instruction with LOCK.
const LOCKED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *add(void *p) { atomic_fetch_add(&counter, 1); return p; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);
    return 0;
}
";

/// A release store and an acquire load, which are plain `mov`s.
const PUBLISHED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int ready;
static void *publish(void *p) {
    data = 7;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return p;
}
static void *take(void *p) {
    if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 7);
    return p;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, publish, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

/// Sums stay in vector registers and in those of the x87 while others run, at each read of `flag`.
const REGISTERS: &str = "#include <assert.h>
#include <immintrin.h>
#include <pthread.h>
static volatile int flag;
static double sums[2][4];
static long double longs[2];
__attribute__((target(\"avx\"), noinline)) static void wide(int k) {
    __m256d sum = _mm256_setzero_pd();
    for (int i = 0; i < 3; i++) {
        sum = _mm256_add_pd(sum, _mm256_set_pd(1, 2, 3, k));
        flag = k;
    }
    _mm256_storeu_pd(sums[k], sum);
}
__attribute__((noinline)) static void x87(int k) {
    long double sum = k;
    for (int i = 0; i < 3; i++) {
        sum = sum * 3 + 1;
        flag = k;
    }
    longs[k] = sum;
}
static void *work(void *p) {
    int k = p != 0;
    if (__builtin_cpu_supports(\"avx\")) wide(k);
    x87(k);
    return p;
}
int main(void) {
    pthread_t a, b;
    __builtin_cpu_init();
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, &flag);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (int k = 0; k < 2; k++) {
        assert(longs[k] == (k ? 40 : 13));
        if (__builtin_cpu_supports(\"avx\")) {
            assert(sums[k][0] == 3 * k && sums[k][1] == 9 && sums[k][2] == 6 && sums[k][3] == 3);
        }
    }
    return 0;
}
";

/// An atomic variable of a frame that another thread knows: two increments, or one by two.
const IN_FRAME: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static void *take(void *p) {
    int seen = atomic_fetch_add((atomic_int *)p, 2);
    assert(seen % 2 == 0);
    return 0;
}
int main(void) {
    atomic_int x = 0;
    pthread_t t;
    pthread_create(&t, 0, take, &x);
    atomic_fetch_add(&x, STEP);
    atomic_fetch_add(&x, STEP);
    pthread_join(t, 0);
    return 0;
}
";

/// A copy from the end to the beginning, with the direction flag set.
const BACKWARDS: &str = "#include <assert.h>
#include <pthread.h>
#include <string.h>
static char from[64], to[64];
__attribute__((noinline)) static void copy(char *to, const char *from, unsigned long n) {
    from += n - 1, to += n - 1;
    __asm__ volatile(\"std; rep movsb; cld\" : \"+S\"(from), \"+D\"(to), \"+c\"(n) : : \"memory\");
}
static void *work(void *p) { copy(to, from, 64); return p; }
int main(void) {
    pthread_t t;
    memset(from, 7, sizeof from);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    assert(!memcmp(from, to, 64));
    return 0;
}
";

/// A relaxed load and a store, of which clang makes one instruction without LOCK.
const MERGED: &str = "#include <atomic>
#include <assert.h>
#include <pthread.h>
static std::atomic<int> x;
static void *add(void *p) {
#ifdef RIGHT
    x.fetch_add(1, std::memory_order_relaxed);
#else
    x.store(x.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
#endif
    return p;
}
int main() {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x.load() == 2);
    return 0;
}
";

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

fn searched(bench: &Bench, flags: &[&str], source: &str, options: &str) -> Searched {
    bench.file("program.c", source);
    succeed(bench.command("gcc").args(["-g", "-pthread", "program.c", "-o", "program"]).args(flags));
    let searched = bench.explore(options, &["./program"]);
    assert!(searched.stderr.contains("raddle watches a copy of its machine code"), "{}", searched.stderr);
    searched
}

#[test]
fn a_lost_update_is_found_and_replayed() {
    let bench = Bench::new();
    for level in LEVELS {
        let found = searched(&bench, &[level], LOST, "--seconds 60");
        assert_eq!(found.kinds(), ["assertion"], "{level}: {}", found.stderr);
        let finding = &found.findings()[0];
        assert_eq!(finding["confidence"], "confirmed");
        assert!(finding["notes"].to_string().contains("`counter` (add program.c:4)"), "{finding:#}");
        let again = bench.replay("", found.schedule());
        assert_eq!(again.kinds(), ["assertion"], "{level}: {}", again.stderr);
    }
}

#[test]
fn no_search_is_complete_and_it_says_why() {
    let bench = Bench::new();
    let always = "machine code does not tell all of a program";
    let cases = [
        (GUARDED, "-O0", always),
        (GUARDED, "-O2", always),
        (LOCKED, "-O1", always),
        (PUBLISHED, "-O1", "machine code does not say whether by atomic operations"),
        (GUARDED, "-s", "could not be copied"),
    ];
    for (source, flag, why) in cases {
        let found = searched(&bench, &[flag], source, "--seconds 120");
        assert!(found.kinds().is_empty() && found.stat("exhausted") == false, "{flag}: {}", found.stderr);
        let said = found.stat("not_complete").to_string();
        assert!(said.contains(always) && said.contains(why), "{flag}: {said}");
    }
}

#[test]
fn atomics_of_a_frame_are_steps() {
    let bench = Bench::new();
    for (step, kinds) in [("-DSTEP=1", vec!["assertion"]), ("-DSTEP=2", vec![])] {
        let found = searched(&bench, &["-O2", step], IN_FRAME, "--seconds 60");
        assert_eq!(found.kinds(), kinds, "{step}: {}", found.stderr);
    }
}

#[test]
fn a_load_and_a_store_that_were_merged_are_two_steps() {
    let bench = Bench::new();
    bench.file("merged.cc", MERGED);
    for (flag, kinds) in [("-DWRONG", vec!["assertion"]), ("-DRIGHT", vec![])] {
        let mut build = bench.command("clang++-19");
        succeed(build.args(["-g", "-O2", "-pthread", flag, "merged.cc", "-o", "merged"]));
        let found = bench.explore("--seconds 60", &["./merged"]);
        assert_eq!(found.kinds(), kinds, "{flag}: {}", found.stderr);
    }
}

#[test]
fn a_function_that_sets_the_direction_flag_stays_as_it_is() {
    let bench = Bench::new();
    let found = searched(&bench, &["-O2"], BACKWARDS, "--seconds 60");
    assert!(found.kinds().is_empty(), "{}", found.stderr);
    assert!(found.stat("not_complete").to_string().contains("could not be copied"), "{}", found.stderr);
}

#[test]
fn all_registers_outlive_a_step() {
    let bench = Bench::new();
    let found = searched(&bench, &["-O2"], REGISTERS, "--seconds 10 --schedules 3000");
    assert!(found.kinds().is_empty(), "{}\n{:#}", found.stderr, found.findings()[0]);
    assert!(found.stat("preemptions_max").as_u64() > Some(0), "{}", found.stderr);
}

#[test]
fn a_race_is_suspected_and_older_values_are_refused() {
    let bench = Bench::new();
    let found = searched(&bench, &["-O1"], PUBLISHED, "--seconds 60 --races");
    assert!(found.findings().iter().all(|f| f["confidence"] == "suspected"), "{}", found.stderr);
    bench.refuses_to_explore("--memory c11", &["./program"], &["machine code does not say which loads"]);
}
