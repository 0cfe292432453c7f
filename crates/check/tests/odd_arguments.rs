//! Library calls with arguments that make no sense: sizes of zero, minus one, huge and unknown,
//! pointers that are null, freed, past the end, unknown or wild. A simulated call does something
//! bounded with each of them, and never makes raddle panic.
//!
//! `RADDLE_CALLS=100000` tries more combinations than the usual ones.

use std::panic::AssertUnwindSafe;

use raddle_check::explore::Budget;
use raddle_check::interp::Bounds;
use raddle_check::{CheckOptions, Source, check_sources};

/// `P` and `Q` stand for pointers, `N` for a size.
const CALLS: &[&str] = &[
    "memcpy(P, Q, N)",
    "memmove(P, Q, N)",
    "memset(P, 7, N)",
    "memset(P, argc, N)",
    "use(memcmp(P, Q, N))",
    "use(memchr(P, 'x', N) != 0)",
    "strcpy(P, Q)",
    "strncpy(P, Q, N)",
    "strcat(P, Q)",
    "strncat(P, Q, N)",
    "use(strlen(P))",
    "use(strnlen(P, N))",
    "use(strcmp(P, Q))",
    "use(strncmp(P, Q, N))",
    "use(strchr(P, 'x') != 0)",
    "use(strrchr(P, N) != 0)",
    "use(strstr(P, Q) != 0)",
    "P = strdup(Q)",
    "P = strndup(Q, N)",
    "snprintf(P, N, Q, Q, N)",
    "snprintf(P, N, \"%s %*d %.*s %lu\", Q, (int)N, 1, (int)N, Q)",
    "sprintf(P, \"%s %s %s %s\")",
    "sscanf(P, \"%d %s\", Q, P)",
    "printf(P, Q, N)",
    "qsort(P, N, 4, order)",
    "qsort(P, 4, N, order)",
    "use(bsearch(Q, P, N, 4, order) != 0)",
    "P = realloc(P, N)",
    "P = realloc(Q, N)",
    "P = reallocarray(P, N, N)",
    "P = calloc(N, N)",
    "P = malloc(N)",
    "P = alloca(N)",
    "{ char room[N]; memset(room, 0, N); memcpy(P, room, N); }",
    "free(P)",
    "if (setjmp(*(jmp_buf *)P) < 3) longjmp(*(jmp_buf *)Q, N)",
    "longjmp(*(jmp_buf *)P, N)",
    "use(read(0, P, N))",
    "use(write(1, P, N))",
    "use(fread(P, N, N, 0))",
    "use(recv(0, P, N, 0))",
    "pthread_mutex_lock((pthread_mutex_t *)P)",
    "pthread_mutex_unlock((pthread_mutex_t *)P)",
    "pthread_cond_wait((pthread_cond_t *)P, (pthread_mutex_t *)Q)",
    "pthread_barrier_init((pthread_barrier_t *)P, 0, N)",
    "sem_init((sem_t *)P, 0, N)",
    "sem_wait((sem_t *)P)",
    "pthread_create((pthread_t *)P, 0, (void *(*)(void *))Q, P)",
    "pthread_join((pthread_t)P, (void **)Q)",
    "__atomic_fetch_add((int *)P, (int)N, 5)",
    "__atomic_compare_exchange_n((long *)P, (long *)Q, N, 0, 5, 5)",
    "take(P)",
    "give(P)",
    "take(small), take(P), give(small)",
    "visit(order, P)",
    "use(begin(other, P) == 0)",
    "wait_for(begin(other, Q)), wait_for((unsigned long)N)",
    "((void (*)(char *, long))P)(Q, N)",
    "unknown_fills(&wide.a[N], wide.a, &wide, &wide.last)",
    "*(struct wide *)P = *(struct wide *)Q",
    "use(P[N])",
    "P[N] = 1",
    "use(P < Q ? P - Q : Q - P)",
    "use((long)N / (long)(N + 1) + (long)N % -1 + ((long)N << N) + (N >> N))",
];

const POINTERS: &[&str] = &[
    "0",
    "(char *)-1",
    "(char *)0x7fffffffffffffff",
    "small",
    "(small + 8)",
    "(small - 1)",
    "(small + argc)",
    "block",
    "(block + 15)",
    "(block + 16)",
    "(block + (1UL << 40))",
    "freed",
    "stale",
    "text",
    "(text + 59999)",
    "(text + 60001)",
    "(char *)&tail",
    "((char *)&tail + 8)",
    "getenv(\"X\")",
    "(char *)&local",
    "(char *)main",
    "(char *)env",
];

const SIZES: &[&str] = &[
    "0",
    "1",
    "7",
    "9",
    "4096",
    "60001",
    "(size_t)-1",
    "(size_t)-8",
    "((size_t)1 << 63)",
    "((size_t)1 << 40)",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "(size_t)argc",
    "(size_t)-argc",
    "(size_t)unknown()",
];

/// A program that makes one call, beside a thread, between two accesses that race.
fn program(calls: &[String]) -> String {
    let calls: String = calls.iter().map(|c| format!("    {c};\n")).collect();
    format!(
        "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n#include <setjmp.h>\n\
         #include <pthread.h>\n#include <semaphore.h>\n#include <alloca.h>\n\
         struct wide {{ long a[9], last; char rest[]; }} wide;\n\
         void my_mutex_lock(void *), my_mutex_unlock(void *), my_thread_join(unsigned long);\n\
         unsigned long my_thread_create(void *(*)(void *), void *);\n\
         void visit_all(int (*)(const void *, const void *), char *);\n\
         static void (*take)(void *) = my_mutex_lock, (*give)(void *) = my_mutex_unlock;\n\
         static unsigned long (*begin)(void *(*)(void *), void *) = my_thread_create;\n\
         static void (*wait_for)(unsigned long) = my_thread_join;\n\
         static void (*visit)(int (*)(const void *, const void *), char *) = visit_all;\n\
         char small[8]; char text[60001]; jmp_buf env; int shared; long tail;\n\
         int unknown(void);\n\
         static void use(long x) {{ shared += x != 0; }}\n\
         static int order(const void *a, const void *b) {{ return *(int *)a - *(int *)b; }}\n\
         static char *gone(void) {{ char here[16]; here[0] = 0; return here; }}\n\
         static void *other(void *a) {{ take(small); shared++; give(small); return a; }}\n\
         int main(int argc, char **argv) {{\n\
         pthread_t t; long local = 0; char *p = small, *q = text;\n\
         memset(text, 'x', 60000);\n\
         char *block = malloc(16), *freed = malloc(16), *stale = gone();\n\
         free(freed);\n\
         pthread_create(&t, 0, other, 0);\n\
         if (setjmp(env) == 0) {{\n{calls}    }}\n\
         shared++;\n\
         pthread_join(t, 0);\n    return 0;\n}}\n"
    )
}

/// One call with its placeholders filled in. An assigned pointer is a variable.
fn fill(call: &str, p: &str, q: &str, n: &str) -> String {
    let assigned = call.starts_with("P = ");
    let mut out = String::new();
    let words = call.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for (i, piece) in words.enumerate() {
        let name = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let rest = &piece[name.len()..];
        out += match name {
            "P" if assigned && i == 0 => "p",
            "P" => p,
            "Q" => q,
            "N" => n,
            other => other,
        };
        out += rest;
    }
    if assigned { format!("{out}; p[0] = 1; use(p[7])") } else { out }
}

fn check(text: &str) {
    let run = Bounds { steps: 50_000, heap: 1 << 20, threads: 8, call_depth: 50 };
    let budget = Budget { run, steps: 60_000, runs: 2, stale: 2, quiet: 2, seed: 1 };
    let options = CheckOptions { budget, ..CheckOptions::default() };
    let checked =
        std::panic::catch_unwind(AssertUnwindSafe(|| check_sources(&[Source::new("odd.c", text)], &options)));
    match checked {
        Ok(out) => {
            assert_eq!(out.stats.unparsed, 0, "the program is C\n{text}");
            assert!(out.stats.entries > 0, "main is there\n{text}");
        }
        Err(_) => panic!("raddle itself failed on\n{text}"),
    }
}

fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |n| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    }
}

#[test]
fn no_argument_of_a_library_call_makes_it_panic() {
    let more = std::env::var("RADDLE_CALLS").ok().and_then(|s| s.parse().ok());
    let mut below = numbers(1);
    for i in 0..more.unwrap_or(12 * CALLS.len()) {
        let mut one = |call: &str| {
            let (p, q) = (POINTERS[below(POINTERS.len())], POINTERS[below(POINTERS.len())]);
            fill(call, p, q, SIZES[below(SIZES.len())])
        };
        // A call that ends the run hides what follows it, so most programs have only one.
        let mut calls = vec![one(CALLS[i % CALLS.len()])];
        if i % 4 == 3 {
            calls.insert(0, one(CALLS[(i / 4) % CALLS.len()]));
        }
        check(&program(&calls));
    }
}
