//! `raddle tsvd`: calls through pointers, virtual tables and jumps, each as a program that is wrong
//! and its twin that is right.

mod common;

use common::tsvd::{CALM, EAGER, TsvdRun};
use common::{Bench, succeed};

/// Functions of zlib in a table, in a variable and in a local: pointers to one function are equal,
/// whoever took them. What is shared was never made ready, so `deflate` only says so: threads that
/// really meet in it cannot crash.
const TABLE: &str = r#"
#include <zlib.h>
typedef int (*code)(z_streamp, int);
static const struct { const char *name; code call; } table[] = {{"pack", deflate}, {"unpack", inflate}};
static code variable = deflate;
static z_stream ready, shared;
static unsigned char in[100], out[2][1000];
static volatile int which;
static int through(int me) {
    z_stream *s = &shared;
    s->next_in = in; s->avail_in = sizeof in; s->next_out = out[me]; s->avail_out = sizeof out[me];
    return table[which].call(s, Z_SYNC_FLUSH);
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void step(int me, int i) { LOCK; through(me); UNLOCK; }
int main(void) {
    code volatile local = deflate;
    if (local != variable || local != table[which].call || local == table[1].call) return 9;
    deflateInit(&ready, 6);
    both();
    return 7;
}
"#;

fn build_table(bench: &Bench, name: &str, flags: &str, locked: bool) {
    let (lock, unlock) = if locked {
        ("pthread_mutex_lock(&lock)", "pthread_mutex_unlock(&lock)")
    } else {
        ("(void)lock", "(void)i")
    };
    let text = TABLE.replace("UNLOCK", unlock).replace("LOCK", lock);
    bench.build_pair(&format!("{name}.c"), &format!("gcc -g {flags} -l:libz.so.1"), &text);
}

#[test]
fn functions_of_a_library_in_a_table() {
    let bench = Bench::new();
    for flags in ["-O0", "-O2 -fno-plt", "-O2 -no-pie", "-O1 -fcf-protection=full"] {
        build_table(&bench, "table", flags, false);
        let caught = bench.catch(EAGER, &["./table"]);
        let finding = caught.assert_caught("z_stream `shared`");
        assert!(finding["message"].as_str().unwrap().contains("calls deflate"), "{flags}: {finding}");
        assert_eq!(caught.stat("target_status"), 7, "{flags}: pointers differ");
    }
    build_table(&bench, "locked", "-O1", true);
    let right = bench.tsvd(CALM, &["./locked"]);
    right.assert_clean();
    assert_eq!((right.status, right.stat("points")), (7, 2), "{}", right.report);
}

#[test]
fn ids_of_such_places_hold_from_run_to_run_and_their_pairs_are_kept() {
    let bench = Bench::new();
    build_table(&bench, "table", "-O0", false);
    let options = format!("{EAGER} --trap-file traps.json");
    let ids = |caught: &TsvdRun| caught.findings().iter().map(|f| f["id"].clone()).collect::<Vec<_>>();
    let first = bench.catch(&options, &["./table"]);
    first.assert_caught("z_stream");
    let traps = std::fs::read_to_string(bench.path("traps.json")).unwrap();
    assert!(traps.contains("table: through > *deflate in call "), "{traps}");
    let again = bench.catch(&options, &["./table"]);
    assert_eq!(ids(&again), ids(&first));
}

/// The list is the project's; the functions are reached through virtual tables and throw now and
/// then.
const VIRTUAL: &str = r#"
#include <cstdio>
#include <mutex>
#include <stdexcept>
struct Cache {
    virtual ~Cache() {}
    virtual int put(int key, double value) = 0;
    virtual double get(int key) = 0;
};
struct Table : Cache {
    double values[64];
    __attribute__((noinline)) int put(int key, double value) override {
        if (key % 8 == 7) throw std::out_of_range("seven");
        values[key % 64] = value;
        return key;
    }
    __attribute__((noinline)) double get(int key) override { return values[key % 64]; }
};
static Table shared, own[2];
static Cache *volatile caches[2];
static double sums[2];
static std::mutex mu;
static void step(int me, int i) {
    LOCK
    Cache *cache = caches[me];
    try { cache->put(i, i + 0.5); } catch (const std::out_of_range &e) { sums[me] += 1000; }
    if (i % 8 != 7 && cache->get(i) < 0) sums[me] = -1;
}
int main() {
    CACHES
    both();
    // Each thread met seven at least five times.
    std::puts(sums[0] >= 5000 && sums[1] >= 5000 ? "thrown and caught" : "lost");
}
"#;

#[test]
fn virtual_functions_that_throw() {
    let bench = Bench::new();
    bench.file(
        "raddle.toml",
        "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"Table\"\nread = [\"Table::get\"]\nwrite = [\"Table::put\"]\n",
    );
    let shared = "caches[0] = caches[1] = &shared; (void)own; (void)mu;";
    let apart = "caches[0] = &own[0]; caches[1] = &own[1]; (void)shared; (void)mu;";
    let guard = "std::lock_guard<std::mutex> guard(mu);";
    let build = |name: &str, flags: &str, caches: &str, lock: &str| {
        let text = VIRTUAL.replace("CACHES", caches).replace("LOCK", lock);
        bench.build_pair(&format!("{name}.cpp"), &format!("g++ -g {flags}"), &text);
    };
    for flags in ["-O0", "-O2"] {
        build("wrong", flags, shared, "");
        let caught = bench.catch(EAGER, &["./wrong"]);
        caught.assert_caught("Table `shared`");
        assert!(caught.stdout.contains("thrown and caught"), "{flags}: {}", caught.stdout);
        assert!(!caught.stderr.contains("matches no call"), "{}", caught.stderr);
    }
    for (name, caches, lock) in [("locked", shared, guard), ("apart", apart, "")] {
        build(name, "-O2", caches, lock);
        let right = bench.tsvd(CALM, &[&format!("./{name}")]);
        right.assert_clean();
        assert!(right.stdout.contains("thrown and caught"), "{}", right.stdout);
        assert!(right.stat("points") >= 1 && right.stat("calls") >= 80, "{}", right.report);
    }
}

/// Pointers to members, called by `std::function`, `std::mem_fn` and by hand, optimised or not.
#[test]
fn pointers_to_methods_of_containers() {
    let bench = Bench::new();
    let text = r#"
        #include <functional>
        #include <vector>
        static std::vector<int> shared;
        typedef void (std::vector<int>::*Method)(const int &);
        static Method volatile push = &std::vector<int>::push_back;
        static std::function<void(std::vector<int> &, const int &)> function = Method(push);
        static void step(int me, int i) {
            if (HOW == 0) (shared.*push)(i);
            if (HOW == 1) function(shared, i);
            if (HOW == 2) std::mem_fn(Method(push))(shared, i);
        }
        int main() { shared.reserve(100000); both(); }
    "#;
    for (how, flags) in [("0", "-O0"), ("1", "-O0"), ("2", "-O2"), ("1", "-O2")] {
        let name = format!("how{how}{}", &flags[1..]);
        let compiler = format!("{} c++ --tsvd -g {flags}", bench.raddle("").get_program().display());
        bench.build_pair(&format!("{name}.cpp"), &compiler, &text.replace("HOW", how));
        let caught = bench.catch(EAGER, &[&format!("./{name}")]);
        caught.assert_caught("std::vector `shared`");
    }
}

#[test]
fn rust_function_pointers() {
    let bench = Bench::new();
    let text = r#"
        use std::{thread, time::Duration, hint::black_box, sync::Mutex, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
        static STEPS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        static LOCK: Mutex<()> = Mutex::new(());
        fn main() {
            let list: &'static mut Vec<usize> = Box::leak(Box::new(Vec::with_capacity(1 << 20)));
            let at = list as *mut _ as usize;
            let push: fn(&mut Vec<usize>, usize) = black_box(Vec::push);
            let work = move |me: usize| while STEPS[0].load(SeqCst).min(STEPS[1].load(SeqCst)) < 40 {
                let i = STEPS[me].fetch_add(1, SeqCst);
                { let _guard = if LOCKED { LOCK.lock().ok() } else { None }; push(unsafe { &mut *(at as *mut Vec<usize>) }, i); }
                thread::sleep(Duration::from_millis(1));
            };
            let (a, b) = (thread::spawn(move || work(0)), thread::spawn(move || work(1)));
            a.join().unwrap();
            b.join().unwrap();
        }
    "#;
    for (name, locked) in [("wrong", "false"), ("right", "true")] {
        bench.file(&format!("{name}.rs"), &text.replace("LOCKED", locked));
        succeed(bench.command("rustc").args(["-g", "--edition", "2024", &format!("{name}.rs")]));
    }
    bench.catch(EAGER, &["./wrong"]).assert_caught("Vec");
    let right = bench.tsvd(CALM, &["./right"]);
    right.assert_clean();
    assert!(right.stat("calls_concurrent") >= 1, "{}", right.report);
}

/// Jumps in the place of calls: straight, and through a pointer.
#[test]
fn jumps_to_functions() {
    let bench = Bench::new();
    let text = r#"
        #include <string.h>
        typedef char *(*split)(char *, const char *);
        static split volatile variable = strtok;
        __attribute__((noinline)) static char *straight(char *s) { return strtok(s, ","); }
        __attribute__((noinline)) static char *through(char *s) { return variable(s, ","); }
        static char texts[2][8];
        static void step(int me, int i) { strcpy(texts[me], "a,b"); HOW(texts[me]); (void)straight; (void)through; }
        int main(void) { both(); return 0; }
    "#;
    for how in ["straight", "through"] {
        bench.build_pair(&format!("{how}.c"), "gcc -O2 -g", &text.replace("HOW", how));
        bench.catch(EAGER, &[&format!("./{how}")]).assert_caught("strtok");
    }
}

/// A variable that once held a listed function and now another one is not a call of the first.
#[test]
fn what_a_variable_held_first_says_nothing() {
    let bench = Bench::new();
    let text = r#"
        #include <string.h>
        static char *mine(char *s, const char *by) { return strchr(s, *by); }
        char *(*variable)(char *, const char *) = strtok;
        static void step(int me, int i) { char s[] = "a,b"; if (!variable(s, ",")) _exit(3); }
        int main(void) { char s[] = "x"; strtok(s, ","); variable = mine; both(); return 0; }
    "#;
    bench.build_pair("other.c", "gcc -O1 -g", text);
    let right = bench.tsvd(EAGER, &["./other"]);
    right.assert_clean();
    assert_eq!(right.stat("points"), 1, "{}", right.report);
}

/// A program that becomes another one keeps its number, and must not get the plan of the first.
#[test]
fn a_program_that_another_one_becomes() {
    let bench = Bench::new();
    build_table(&bench, "table", "-O1", false);
    bench.catch(EAGER, &["env", "X=1", "./table"]).assert_caught("z_stream");
    bench.catch(EAGER, &["sh", "-c", "exec ./table"]).assert_caught("z_stream");
}

/// Functions that the program finds by name in a library that it loads, and calls straight as well
/// where it is linked.
const NAMED: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <zlib.h>
typedef int (*code)(z_streamp, int);
static code pack;
static z_stream ready, shared;
static unsigned char in[100], out[2][1000];
static atomic_int calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void step(int me, int i) {
    LOCK;
    z_stream *s = &shared;
    s->next_in = in; s->avail_in = sizeof in; s->next_out = out[me]; s->avail_out = sizeof out[me];
    calls++;
    if (STRAIGHT && me) deflate(s, Z_SYNC_FLUSH); else pack(s, Z_SYNC_FLUSH);
    UNLOCK;
}
int main(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW);
    char name[20];
    snprintf(name, sizeof name, "%s%s", "def", "late");
    pack = (code)dlsym(library, name);
    // The same pointer however it is asked for; RTLD_NEXT minds who asks.
    if (!pack || pack != (code)dlsym(library, "deflate")) return 9;
    if (dlsym(RTLD_NEXT, "strtok") != dlvsym(RTLD_DEFAULT, "strtok", "GLIBC_2.2.5") || dlsym(library, "no such")) return 8;
    int (*init)(z_streamp, int, const char *, int) = (int (*)(z_streamp, int, const char *, int))dlsym(library, "deflateInit_");
    init(&ready, 6, ZLIB_VERSION, sizeof ready);
    both();
    printf("%d calls\n", calls + 1);
    return 0;
}
"#;

#[test]
fn functions_that_dlsym_finds() {
    let bench = Bench::new();
    let build = |name: &str, options: &str, straight: bool, locked: bool| {
        let (lock, unlock) = match locked {
            true => ("pthread_mutex_lock(&lock)", "pthread_mutex_unlock(&lock)"),
            false => ("(void)lock", "(void)i"),
        };
        let text = NAMED.replace("UNLOCK", unlock).replace("LOCK", lock);
        let text = text.replace("STRAIGHT && me", if straight { "me" } else { "0" });
        // What is not linked must not be named.
        let text = if straight { text } else { text.replace("deflate(s, Z_SYNC_FLUSH)", "(void)0") };
        bench.build_pair(&format!("{name}.c"), &format!("gcc -g {options}"), &text);
    };
    for (options, straight) in
        [("-O0", false), ("-O2 -fno-plt -l:libz.so.1", true), ("-O1 -no-pie -l:libz.so.1", true)]
    {
        build("named", options, straight, false);
        let caught = bench.catch(EAGER, &["./named"]);
        let finding = caught.assert_caught("z_stream `shared`");
        assert!(finding["message"].as_str().unwrap().contains("calls deflate"), "{options}: {finding}");
        assert_eq!(caught.stat("target_status"), 0, "{options}: pointers differ");
        let ends: Vec<_> = caught.ends(0).into_iter().filter(|f| f == "step").collect();
        assert_eq!(ends.len(), 2, "{options}: {}", caught.report);
    }
    for (name, options, straight, points) in
        [("locked", "-O0", false, 2), ("straight", "-O0 -l:libz.so.1", true, 3)]
    {
        build(name, options, straight, true);
        let right = bench.tsvd(CALM, &[&format!("./{name}")]);
        right.assert_clean();
        // Each call counts once.
        let calls = format!("{} calls\n", right.stat("calls"));
        assert_eq!(right.stdout, calls, "{name}: {}", right.report);
        assert_eq!(right.stat("points"), points, "{name}: {}", right.report);
    }
}

/// A listed function is what threads are created to run: the place that creates them is the point.
#[test]
fn functions_that_threads_begin_with() {
    let bench = Bench::new();
    bench.file(
        "raddle.toml",
        "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"Job\"\nwrite = [\"work\", \"c11_work\"]\n",
    );
    bench.file(
        "begin.cpp",
        r#"
        #include <pthread.h>
        #include <thread>
        #include <threads.h>
        #include <unistd.h>
        struct Job { int n; };
        static Job shared, own[2];
        extern "C" __attribute__((noinline)) void *work(void *j) { usleep(2000); ((Job *)j)->n++; return j; }
        extern "C" __attribute__((noinline)) int c11_work(void *j) { usleep(2000); ((Job *)j)->n++; return 7; }
        int main(int n, char **words) {
            Job *a = &shared, *b = n > 2 ? &own[0] : &shared, *c = n > 2 ? &own[1] : &shared;
            for (int round = 0; round < 8; round++) {
                if (*words[1] == 'p') {
                    pthread_t x, y;
                    void *r;
                    pthread_create(&x, 0, work, a);
                    pthread_create(&y, 0, work, b);
                    pthread_join(x, &r);
                    if (r != a) return 8;
                    pthread_join(y, 0);
                } else if (*words[1] == 'c') {
                    thrd_t x, y;
                    int r;
                    thrd_create(&x, c11_work, a);
                    thrd_create(&y, c11_work, b);
                    thrd_join(x, &r);
                    if (r != 7) return 8;
                    thrd_join(y, 0);
                } else {
                    // One place makes all calls: the second thread is held there, and the third one
                    // meets it.
                    std::thread x(work, a), y(work, b), z(work, c);
                    x.join();
                    y.join();
                    z.join();
                }
            }
        }
    "#,
    );
    // From -O2 on the standard library's thread jumps to its function, and nothing tells who did.
    for flags in ["-O0", "-O1"] {
        succeed(bench.command("g++").args(["-g", flags, "-pthread", "-o", "begin", "begin.cpp"]));
        for how in ["p", "c", "std"] {
            let caught = bench.catch(EAGER, &["./begin", how]);
            caught.assert_caught("Job `shared`");
            assert_eq!(caught.stat("target_status"), 0, "{flags} {how}");
            if how != "std" {
                assert_eq!(caught.ends(0), ["main", "main"], "{flags} {how}: {}", caught.report);
            }
            let right = bench.tsvd(CALM, &["./begin", how, "apart"]);
            right.assert_clean();
            // Of two threads that come to a new place at once, one is not seen.
            let least = if how == "std" { 20 } else { 16 };
            assert!((least..=24).contains(&right.stat("calls")), "{flags} {how}: {}", right.report);
        }
    }
}
