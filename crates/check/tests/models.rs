//! The models: each is well-formed, and those that synchronise do what they should and nothing
//! else.

use raddle_check::c::models;
use raddle_check::explore::Budget;
use raddle_check::ir::cfg;
use raddle_check::{CheckOptions, Source, check_sources};

#[test]
fn every_model_is_well_formed_code() {
    let unit = models::unit();
    assert!(unit.functions.len() > 250, "{} models", unit.functions.len());
    for f in &unit.functions {
        cfg::verify(f).unwrap_or_else(|e| panic!("{}: {e:?}", f.name));
        assert!(!f.code.contains(&raddle_check::ir::Instr::Gap), "{} was not understood", f.name);
    }
}

/// The kinds of what is found in a program with these workers, run by two threads.
fn kinds(globals: &str, first: &str, second: &str) -> Vec<String> {
    let text = format!(
        "#include <pthread.h>\n#include <threads.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
         static int x;\n{globals}\nstatic void *first(void *arg) {{ {first} return 0; }}\n\
         static void *second(void *arg) {{ {second} return 0; }}\n\
         int main(void) {{ pthread_t a, b; setup(); pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); return x; }}\n"
    );
    let options =
        CheckOptions { budget: Budget { runs: 150, ..Budget::default() }, ..CheckOptions::default() };
    let out = check_sources(&[Source::new("m.c", &text)], &options);
    let mut kinds: Vec<String> = out.findings.iter().map(|f| format!("{:?}", f.kind)).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// Taking and releasing in these ways guards an access; leaving it out on one side does not.
#[test]
fn locks_of_every_kind_guard() {
    let cases = [
        (
            "pthread_mutex_t l; void setup(void) { pthread_mutex_init(&l, 0); }",
            "pthread_mutex_lock(&l);",
            "pthread_mutex_unlock(&l);",
        ),
        (
            "pthread_mutex_t l; void setup(void) {}",
            "while (pthread_mutex_trylock(&l)) sched_yield();",
            "pthread_mutex_unlock(&l);",
        ),
        (
            "pthread_mutex_t l; struct timespec t; void setup(void) {}",
            "if (pthread_mutex_timedlock(&l, &t)) return 0;",
            "pthread_mutex_unlock(&l);",
        ),
        (
            "pthread_mutex_t l; struct timespec t; void setup(void) {}",
            "if (pthread_mutex_clocklock(&l, 0, &t)) return 0;",
            "pthread_mutex_unlock(&l);",
        ),
        (
            "pthread_rwlock_t l; void setup(void) { pthread_rwlock_init(&l, 0); }",
            "pthread_rwlock_wrlock(&l);",
            "pthread_rwlock_unlock(&l);",
        ),
        (
            "pthread_rwlock_t l; void setup(void) {}",
            "while (pthread_rwlock_trywrlock(&l)) ;",
            "pthread_rwlock_unlock(&l);",
        ),
        (
            "pthread_rwlock_t l; struct timespec t; void setup(void) {}",
            "if (pthread_rwlock_timedwrlock(&l, &t)) return 0;",
            "pthread_rwlock_unlock(&l);",
        ),
        (
            "pthread_spinlock_t l; void setup(void) { pthread_spin_init(&l, 0); }",
            "pthread_spin_lock(&l);",
            "pthread_spin_unlock(&l);",
        ),
        (
            "pthread_spinlock_t l; void setup(void) {}",
            "while (pthread_spin_trylock(&l)) ;",
            "pthread_spin_unlock(&l);",
        ),
        ("mtx_t l; void setup(void) { mtx_init(&l, mtx_plain); }", "mtx_lock(&l);", "mtx_unlock(&l);"),
        (
            "mtx_t l; struct timespec t; void setup(void) { mtx_init(&l, mtx_timed); }",
            "if (mtx_timedlock(&l, &t) != thrd_success) return 0;",
            "mtx_unlock(&l);",
        ),
        (
            "mtx_t l; void setup(void) { mtx_init(&l, mtx_plain); }",
            "while (mtx_trylock(&l) != thrd_success) thrd_yield();",
            "mtx_unlock(&l);",
        ),
        ("sem_t l; void setup(void) { sem_init(&l, 0, 1); }", "sem_wait(&l);", "sem_post(&l);"),
        ("sem_t l; void setup(void) { sem_init(&l, 0, 1); }", "while (sem_trywait(&l)) ;", "sem_post(&l);"),
        (
            "sem_t l; struct timespec t; void setup(void) { sem_init(&l, 0, 1); }",
            "if (sem_timedwait(&l, &t)) return 0;",
            "sem_post(&l);",
        ),
        ("FILE *l; void setup(void) { l = stdout; }", "flockfile(l);", "funlockfile(l);"),
        ("atomic_int l; void setup(void) {}", "while (atomic_exchange(&l, 1)) ;", "atomic_store(&l, 0);"),
        (
            "atomic_int l; void setup(void) {}",
            "while (atomic_exchange_explicit(&l, 1, memory_order_acquire)) ;",
            "atomic_store_explicit(&l, 0, memory_order_release);",
        ),
        (
            "int l; void setup(void) {}",
            "while (__atomic_test_and_set(&l, __ATOMIC_ACQUIRE)) ;",
            "__atomic_clear(&l, __ATOMIC_RELEASE);",
        ),
        (
            "int l; void setup(void) {}",
            "while (!__sync_bool_compare_and_swap(&l, 0, 1)) ;",
            "__sync_lock_release(&l);",
        ),
        ("omp_lock_t l; void setup(void) { omp_init_lock(&l); }", "omp_set_lock(&l);", "omp_unset_lock(&l);"),
        (
            "omp_lock_t l; void setup(void) { omp_init_lock(&l); }",
            "while (!omp_test_lock(&l)) ;",
            "omp_unset_lock(&l);",
        ),
        ("void setup(void) {}", "__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
    ];
    for (globals, take, release) in cases {
        let guarded = format!("{take} x++; {release}");
        assert!(
            kinds(globals, &guarded, &guarded).is_empty(),
            "{take} guards: {:?}",
            kinds(globals, &guarded, &guarded)
        );
        assert_eq!(kinds(globals, &guarded, "x++;"), ["DataRace"], "{take} on one side");
    }
}

#[test]
fn one_thread_waits_for_the_other_in_every_way() {
    let cases = [
        ("sem_t s; void setup(void) { sem_init(&s, 0, 0); }", "sem_post(&s);", "sem_wait(&s);"),
        (
            "pthread_barrier_t b; void setup(void) { pthread_barrier_init(&b, 0, 2); }",
            "pthread_barrier_wait(&b);",
            "pthread_barrier_wait(&b);",
        ),
        (
            "pthread_mutex_t m; pthread_cond_t c; int ready; void setup(void) {}",
            "pthread_mutex_lock(&m); ready = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
        ),
        (
            "pthread_mutex_t m; pthread_cond_t c; int ready; struct timespec t; void setup(void) {}",
            "pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); pthread_cond_signal(&c);",
            "pthread_mutex_lock(&m); while (!ready) pthread_cond_timedwait(&c, &m, &t); pthread_mutex_unlock(&m);",
        ),
        (
            "mtx_t m; cnd_t c; int ready; void setup(void) { mtx_init(&m, mtx_plain); cnd_init(&c); }",
            "mtx_lock(&m); ready = 1; cnd_signal(&c); mtx_unlock(&m);",
            "mtx_lock(&m); while (!ready) cnd_wait(&c, &m); mtx_unlock(&m);",
        ),
        (
            "atomic_int f; void setup(void) {}",
            "atomic_store(&f, 1);",
            "while (!atomic_load(&f)) thrd_yield();",
        ),
        (
            "int f; void setup(void) {}",
            "__atomic_store_n(&f, 1, __ATOMIC_RELEASE);",
            "while (!__atomic_load_n(&f, __ATOMIC_ACQUIRE)) ;",
        ),
        (
            "int f; void setup(void) {}",
            "__sync_synchronize(); __sync_fetch_and_add(&f, 1);",
            "while (__sync_fetch_and_add(&f, 0) == 0) ;",
        ),
        (
            "pthread_once_t o; void init(void) { x = 1; } void setup(void) {}",
            "pthread_once(&o, init); return 0;",
            "pthread_once(&o, init); return (void *)(long)x;",
        ),
        (
            "once_flag o; void init(void) { x = 1; } void setup(void) {}",
            "call_once(&o, init); return 0;",
            "call_once(&o, init); return (void *)(long)x;",
        ),
    ];
    for (globals, signal, wait) in cases {
        let (first, second) = (format!("x++; {signal}"), format!("{wait} x++;"));
        let once = signal.contains("init");
        let (first, second) = if once { (signal.to_string(), wait.to_string()) } else { (first, second) };
        assert!(kinds(globals, &first, &second).is_empty(), "{wait}: {:?}", kinds(globals, &first, &second));
        if !once {
            assert!(kinds(globals, &first, "x++;").contains(&"DataRace".to_string()), "without {wait}");
        }
    }
}

#[test]
fn sleeping_orders_nothing() {
    for nap in [
        "sleep(1)",
        "usleep(5)",
        "struct timespec t = { 1, 0 }; nanosleep(&t, 0)",
        "sched_yield()",
        "poll(0, 0, 10)",
    ] {
        assert_eq!(kinds("void setup(void) {}", "x = 1;", &format!("{nap}; x++;")), ["DataRace"], "{nap}");
    }
}

#[test]
fn a_cancelled_thread_ends_where_it_waits() {
    let text = "#include <pthread.h>\n#include <unistd.h>\nstatic pthread_mutex_t m; static int x;\n\
        static void unlock(void *l) { pthread_mutex_unlock(l); }\n\
        static void *f(void *a) { pthread_mutex_lock(&m); pthread_cleanup_push(unlock, &m); for (;;) { x++; sleep(1); }\n\
        pthread_cleanup_pop(1); return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0);\n\
        pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return x; }";
    let out = check_sources(&[Source::new("c.c", text)], &CheckOptions::default());
    assert!(out.findings.is_empty(), "{:?}", out.findings);
    assert!(out.stats.steps < 1_000_000, "it ends: {:?}", out.stats);
}

#[test]
fn memory_functions_access_what_they_should() {
    let globals = "#include <string.h>\n#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n\
        static char text[16] = \"abc\", other[16]; void setup(void) {}";
    let reads = [
        "strlen(text)",
        "strcmp(text, \"abd\")",
        "memcpy(other, text, 4)",
        "memcmp(text, \"abc\", 3)",
        "strchr(text, 'c')",
        "strdup(text)",
        "printf(\"%d %s\", 1, text)",
        "puts(text)",
        "fputs(text, stdout)",
        "write(1, text, 4)",
        "fwrite(text, 1, 4, stdout)",
        "strcpy(other, text)",
        "strncpy(other, text, 4)",
        "snprintf(other, 16, \"%s\", text)",
        "atoi(text)",
    ];
    for read in reads {
        assert_eq!(kinds(globals, &format!("{read};"), "text[1] = 'x';"), ["DataRace"], "{read}");
        assert!(
            kinds(globals, &format!("{read};"), "text[9] = 'x';").is_empty(),
            "{read} does not reach so far"
        );
    }
    let writes = [
        "strcpy(text, \"xy\")",
        "memset(text, 0, 3)",
        "memmove(text, other, 3)",
        "sprintf(text, \"%d\", 4)",
        "fgets(text, 8, stdin)",
        "read(0, text, 4)",
        "fread(text, 1, 4, stdin)",
        "strncpy(text, \"pq\", 3)",
    ];
    for write in writes {
        assert_eq!(kinds(globals, &format!("{write};"), "other[0] = text[0];"), ["DataRace"], "{write}");
    }
    assert_eq!(kinds("char *p; void setup(void) { p = malloc(4); }", "free(p);", "p[0] = 1;"), ["DataRace"]);
    assert_eq!(
        kinds("char *p; void setup(void) { p = malloc(4); }", "p = realloc(p, 8);", "p[0] = 1;"),
        ["DataRace"]
    );
}
