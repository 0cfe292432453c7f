//! What one thread changes outside of memory and another can see: files, descriptors, limits,
//! handlers, names, mappings, processes, what the C library keeps. A search of such a program finds
//! that the order matters, or does not claim to be complete.

mod common;

use common::{Bench, succeed};

/// Two threads, one of which changes something that the other looks at twice. The program fails if
/// the change comes between the two looks, and only then.
struct Pair {
    name: &'static str,
    ready: &'static str,
    changes: &'static str,
    looks: &'static str,
}

const BEGINNING: &str = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wctype.h>

static char name[] = "outside.tmp", other[] = "outside.other", text[64] = "aaaa";
static int fd, fd2, ends[2];
static volatile int *page, *again;
static pthread_t first;
static pthread_key_t key;
static FILE *stream;
static char *words[] = {"outside", "-a", 0};
static int order;
static atomic_int steps;

static int fresh(void) {
    unlink(name);
    unlink(other);
    int file = open(name, O_RDWR | O_CREAT, 0600);
    assert(file >= 0 && write(file, "aaaa", 4) == 4);
    return file;
}

static off_t size_of(void) {
    struct stat told;
    return stat(name, &told) == 0 ? told.st_size : -1;
}

static mode_t mode_of(void) {
    struct stat told;
    return stat(name, &told) == 0 ? told.st_mode & 0777 : 0;
}

static void map_twice(int file) {
    assert(ftruncate(file, 4096) == 0);
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    again = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static void map_alone(void) {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
}

static void is_first(void) { order = 10 * order + 1; }
static void is_second(void) { order = 10 * order + 2; if (order == 212) _exit(9); }

"#;

const PAIRS: [Pair; 43] = [
    Pair {
        name: "pwrite",
        ready: "fd = fresh();",
        changes: r#"pwrite(fd, "bb", 2, 0);"#,
        looks: "char c[4]; pread(fd, c, 4, 0); return c[0] == 'a';",
    },
    Pair {
        name: "truncate",
        ready: "fd = fresh();",
        changes: "truncate(name, 1);",
        looks: "return size_of() == 4;",
    },
    Pair {
        name: "chmod",
        ready: "fd = fresh();",
        changes: "chmod(name, 0640);",
        looks: "return mode_of() == 0600;",
    },
    Pair {
        name: "rename",
        ready: "fd = fresh();",
        changes: "rename(name, other);",
        looks: "return access(name, F_OK) == 0;",
    },
    Pair {
        name: "streams",
        ready: r#"fresh(); stream = fopen(name, "r+");"#,
        changes: r#"fputs("b", stream); fflush(stream);"#,
        looks: r#"FILE *f = fopen(name, "r"); int c = fgetc(f); fclose(f); return c;"#,
    },
    Pair {
        name: "flock",
        ready: "fd = fresh(); fd2 = open(name, O_RDWR);",
        changes: "flock(fd, LOCK_EX);",
        looks: "int r = flock(fd2, LOCK_EX | LOCK_NB); flock(fd2, LOCK_UN); return r;",
    },
    Pair {
        name: "fcntl",
        ready: "assert(pipe(ends) == 0);",
        changes: "fcntl(ends[0], F_SETFL, O_NONBLOCK);",
        looks: "return !(fcntl(ends[0], F_GETFL) & O_NONBLOCK);",
    },
    Pair {
        name: "close",
        ready: "fd = fresh();",
        changes: "close(fd);",
        looks: "return fcntl(fd, F_GETFD) >= 0;",
    },
    Pair {
        name: "lseek",
        ready: "fd = fresh();",
        changes: "lseek(fd, 1, SEEK_SET);",
        looks: "return lseek(fd, 0, SEEK_CUR) == 4;",
    },
    Pair {
        name: "eventfd",
        ready: "fd = eventfd(0, EFD_NONBLOCK);",
        changes: "eventfd_write(fd, 1);",
        looks: "struct pollfd p = {fd, POLLIN, 0}; return poll(&p, 1, 0);",
    },
    Pair {
        name: "socketpair",
        ready: "assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);",
        changes: r#"send(ends[0], "b", 1, 0);"#,
        looks: "char c; return recv(ends[1], &c, 1, MSG_PEEK | MSG_DONTWAIT);",
    },
    Pair {
        name: "setsockopt",
        ready: "assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);",
        changes: "int on = 1; setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);",
        looks: "int v = 0; socklen_t n = sizeof v; getsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &v, &n); return !v;",
    },
    Pair {
        name: "timerfd",
        ready: "fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);",
        changes: "struct itimerspec t = {{0, 0}, {100, 0}}; timerfd_settime(fd, 0, &t, 0);",
        looks: "struct itimerspec t; timerfd_gettime(fd, &t); return t.it_value.tv_sec > 0;",
    },
    Pair {
        name: "inotify",
        ready: "fresh(); fd = inotify_init1(IN_NONBLOCK); inotify_add_watch(fd, name, IN_ATTRIB);",
        changes: "chmod(name, 0640);",
        looks: "int n = 0; ioctl(fd, FIONREAD, &n); return n;",
    },
    Pair {
        name: "chdir",
        ready: "",
        changes: r#"assert(chdir("/") == 0);"#,
        looks: "char c[512]; getcwd(c, sizeof c); return strlen(c) > 1;",
    },
    Pair {
        name: "setenv",
        ready: "",
        changes: r#"setenv("OUTSIDE", "1", 1);"#,
        looks: r#"return !getenv("OUTSIDE");"#,
    },
    Pair {
        name: "setrlimit",
        ready: "",
        changes: "struct rlimit l = {0, RLIM_INFINITY}; getrlimit(RLIMIT_CORE, &l); l.rlim_cur = 0; l.rlim_max = 0; setrlimit(RLIMIT_CORE, &l);",
        looks: "struct rlimit l; getrlimit(RLIMIT_CORE, &l); return l.rlim_max != 0;",
    },
    Pair {
        name: "setpriority",
        ready: "",
        changes: "setpriority(PRIO_PROCESS, 0, 7);",
        looks: "errno = 0; return getpriority(PRIO_PROCESS, 0);",
    },
    Pair {
        name: "setlocale",
        ready: "",
        changes: r#"setlocale(LC_ALL, "C.UTF-8");"#,
        looks: r#"return !strcmp(setlocale(LC_ALL, 0), "C");"#,
    },
    Pair {
        name: "signal",
        ready: "",
        changes: "signal(SIGUSR1, SIG_IGN);",
        looks: "struct sigaction a; sigaction(SIGUSR1, 0, &a); return a.sa_handler == SIG_DFL;",
    },
    Pair {
        name: "setname",
        ready: "first = pthread_self();",
        changes: r#"pthread_setname_np(first, "changed");"#,
        looks: r#"char c[16];
            pthread_getname_np(first, c, 16);
            return strcmp(c, "changed");"#,
    },
    Pair {
        name: "prctl",
        ready: "prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);",
        changes: "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);",
        looks: "return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;",
    },
    Pair {
        name: "hsearch",
        ready: "assert(hcreate(8));",
        changes: r#"ENTRY e = {"a", 0}; hsearch(e, ENTER);"#,
        looks: r#"ENTRY e = {"a", 0}; return !hsearch(e, FIND);"#,
    },
    Pair {
        name: "dlopen",
        ready: "",
        changes: r#"dlopen("libanl.so.1", RTLD_NOW);"#,
        looks: r#"return !dlopen("libanl.so.1", RTLD_NOW | RTLD_NOLOAD);"#,
    },
    Pair {
        name: "affinity",
        ready: "",
        changes: "cpu_set_t s; CPU_ZERO(&s); CPU_SET(sched_getcpu(), &s); sched_setaffinity(0, sizeof s, &s);",
        looks: "cpu_set_t s; sched_getaffinity(0, sizeof s, &s); return CPU_COUNT(&s) + sysconf(_SC_NPROCESSORS_ONLN);",
    },
    Pair {
        name: "key_delete",
        ready: "pthread_key_create(&key, 0);",
        changes: "pthread_key_delete(key);",
        looks: "return pthread_setspecific(key, &key) == 0;",
    },
    Pair {
        name: "system_call",
        ready: "umask(022);",
        changes: "syscall(SYS_umask, 0777);",
        looks: "mode_t m = syscall(SYS_umask, 0); syscall(SYS_umask, m); return m;",
    },
    Pair {
        name: "madvise",
        ready: "map_alone();",
        changes: "madvise((void *)page, 4096, MADV_DONTNEED);",
        looks: "return *page == 1;",
    },
    Pair {
        name: "mmap_over",
        ready: "map_alone();",
        changes: "mmap((void *)page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);",
        looks: "return *page == 1;",
    },
    Pair {
        name: "mapped_twice",
        ready: r#"map_twice(memfd_create("outside", 0));"#,
        changes: "*page = 1;",
        looks: "return *again == 0;",
    },
    Pair {
        name: "mapped_file",
        ready: "fd = fresh(); map_twice(fd);",
        changes: "*page = 1;",
        looks: "int v = 0; pread(fd, &v, 4, 0); return v != 1;",
    },
    Pair {
        name: "shmat",
        ready: "int id = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT); page = shmat(id, 0, 0); again = shmat(id, 0, 0); shmctl(id, IPC_RMID, 0);",
        changes: "*page = 1;",
        looks: "return *again == 0;",
    },
    Pair {
        name: "child",
        ready: "page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);",
        changes: "pid_t c = fork(); if (!c) { *page = 1; _exit(0); } waitpid(c, 0, 0);",
        looks: "return *page == 0;",
    },
    Pair {
        name: "system",
        ready: "fresh();",
        changes: r#"system("rm outside.tmp");"#,
        looks: "return access(name, F_OK) == 0;",
    },
    Pair {
        name: "process_vm",
        ready: "map_alone();",
        changes: "int v = 2; struct iovec from = {&v, 4}, to = {(void *)page, 4}; process_vm_writev(getpid(), &from, 1, &to, 1, 0);",
        looks: "return *page != 2;",
    },
    Pair {
        name: "own_memory",
        ready: r#"map_alone(); fd = open("/proc/self/mem", O_RDWR);"#,
        changes: "int v = 2; pwrite(fd, &v, 4, (off_t)page);",
        looks: "return *page != 2;",
    },
    Pair {
        name: "sprintf",
        ready: "",
        changes: r#"sprintf(text, "%s%d", "bbbb", (int)strlen(text));"#,
        looks: "return text[0];",
    },
    Pair {
        name: "snprintf",
        ready: "",
        changes: r#"snprintf(text, 5, "%d%s", 7, "bbb");"#,
        looks: "return text[3];",
    },
    Pair {
        name: "memstream",
        ready: "static char *at; static size_t n; stream = open_memstream(&at, &n); page = (int *)&n;",
        changes: r#"fputs("b", stream); fflush(stream);"#,
        looks: "return *page == 0;",
    },
    Pair {
        name: "locale",
        ready: "",
        changes: r#"setlocale(LC_ALL, "C.UTF-8");"#,
        looks: "return MB_CUR_MAX == 1;",
    },
    Pair {
        name: "classes",
        ready: r#"setlocale(LC_ALL, "C.UTF-8");"#,
        changes: r#"setlocale(LC_ALL, "C");"#,
        looks: "return iswalpha(0xe4);",
    },
    Pair {
        name: "stream_lock",
        ready: "",
        changes: "flockfile(stdout); steps = 1; steps = 2; funlockfile(stdout);",
        looks: "return steps == 1;",
    },
    Pair {
        name: "default_attributes",
        ready: "",
        changes: "pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 1 << 20); pthread_setattr_default_np(&a);",
        looks: "pthread_attr_t a; size_t n; pthread_getattr_default_np(&a); pthread_attr_getstacksize(&a, &n); return n == 1 << 20;",
    },
];

/// One program of all pairs: its argument is the number of the pair.
fn program(pairs: &[&Pair]) -> String {
    let mut text = BEGINNING.to_string();
    let mut table = String::new();
    for (i, pair) in pairs.iter().enumerate() {
        text += &format!("// {}\nstatic void ready_{i}(void) {{ {} }}\n", pair.name, pair.ready);
        text += &format!("static void *changes_{i}(void *arg) {{ {} return arg; }}\n", pair.changes);
        text += &format!("static int looks_{i}(void) {{ {} }}\n", pair.looks);
        table += &format!("{{ready_{i}, changes_{i}, looks_{i}}},");
    }
    text += "static const struct { void (*ready)(void); void *(*changes)(void *); int (*looks)(void); } ";
    text += &format!("pairs[] = {{{table}}};");
    text + r"
static int i;
static void *looks_twice(void *arg) {
    int before = pairs[i].looks();
    int after = pairs[i].looks();
    assert(before == after);
    return arg;
}
int main(int n, char **argv) {
    i = n > 1 ? atoi(argv[1]) : 0;
    pthread_t a, b;
    pairs[i].ready();
    pthread_create(&a, 0, pairs[i].changes, 0);
    pthread_create(&b, 0, looks_twice, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"
}

#[test]
fn what_threads_see_of_each_other_outside_of_memory_is_found_or_named() {
    let bench = Bench::new();
    let mut wrong = Vec::new();
    // A program that only contains one of these calls is not called complete, whatever it does.
    let (lasting, usual) = PAIRS.iter().partition(|p| ["shmat", "memstream"].contains(&p.name));
    let groups: [(&str, Vec<&Pair>); 2] = [("lasting", lasting), ("usual", usual)];
    for (name, pairs) in groups {
        let target = bench.build_text(name, &program(&pairs));
        for (i, pair) in pairs.iter().enumerate() {
            let done = bench.explore("--schedules 200 --seconds 60", &[&target, &i.to_string()]);
            println!("{}: {:?}, {}", pair.name, done.kinds(), done.report["stats"]["not_complete"]);
            if done.kinds().is_empty() && done.stat("exhausted") == true {
                wrong.push(pair.name);
            }
        }
    }
    assert!(wrong.is_empty(), "called complete: {wrong:?}");
}

/// Of the functions of libm only those for the gamma function write to a variable of the library.
const SIGN: &str = r#"
#include <assert.h>
#include <math.h>
#include <pthread.h>
static volatile double x = -0.5;
static void *changes(void *arg) { x = lgamma(x); return arg; }
static void *looks_twice(void *arg) {
    volatile int *sign = &signgam;
    int before = *sign, after = *sign;
    assert(before == after);
    return arg;
}
int main(void) {
    pthread_t a, b;
    signgam = 0;
    pthread_create(&a, 0, changes, 0);
    pthread_create(&b, 0, looks_twice, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_library_function_that_writes_to_a_variable_is_named() {
    let bench = Bench::new();
    let mut build = bench.raddle("cc --use gcc -g -O1 -pthread");
    build.arg(bench.file("sign.c", SIGN)).arg("-o").arg(bench.path("sign")).arg("-lm");
    succeed(&mut build);
    let done = bench.explore("--schedules 200 --seconds 60", &["./sign"]);
    let why = done.report["stats"]["not_complete"].as_str().unwrap_or_default();
    let is_named = done.stat("exhausted") != true && why.contains("`lgamma`");
    assert!(is_named || !done.kinds().is_empty(), "{}", done.report["stats"]);
}

/// Copies that no one instruction makes. The program fails if the reader sees part of the writer's
/// bytes, which takes a switch inside a copy: more than a step can be cut.
const TORN: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct three { char bytes[3]; };
static struct three shared;
static char text[8] = "aaaa";
static void *copies(void *arg) {
    struct three new;
    memset(&new, 1, sizeof new);
    shared = new;
    return arg;
}
static void *reads(void *arg) {
    struct three seen = shared;
    assert(seen.bytes[0] == seen.bytes[2]);
    return arg;
}
static void *fills(void *arg) { memset(&shared, 1, sizeof shared); return arg; }
static void *copies_text(void *arg) { strcpy(text, "bbbb"); return arg; }
static void *reads_text(void *arg) {
    char seen[8];
    strcpy(seen, text);
    assert(seen[0] == seen[3]);
    return arg;
}
static void *(*pairs[][2])(void *) = {{copies, reads}, {fills, reads}, {copies_text, reads_text}};
int main(int n, char **argv) {
    int i = n > 1 ? atoi(argv[1]) : 0;
    pthread_t a, b;
    pthread_create(&a, 0, pairs[i][0], 0);
    pthread_create(&b, 0, pairs[i][1], 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_copy_in_several_pieces_is_not_called_one_step_in_silence() {
    let bench = Bench::new();
    let target = bench.build_text("torn", TORN);
    for pair in ["0", "1", "2"] {
        let done = bench.explore("--schedules 2000 --seconds 60", &[&target, pair]);
        let silent = done.kinds().is_empty() && done.stat("exhausted") == true;
        assert!(!silent, "pair {pair} is called complete: {}", done.stderr);
    }
}

/// The C library gives the handle of a thread that was joined to the next thread. A search does
/// not.
const HANDLE_AGAIN: &str = r#"
#include <assert.h>
#include <pthread.h>
static pthread_t last;
static void *sets(void *arg) { last = pthread_self(); return arg; }
static void *compares(void *arg) { assert(!pthread_equal(last, pthread_self())); return arg; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, sets, 0);
    pthread_join(a, 0);
    pthread_create(&a, 0, compares, 0);
    pthread_join(a, 0);
    return 0;
}
"#;

#[test]
fn a_search_in_which_nothing_fails_is_not_complete_if_the_run_before_it_failed() {
    let bench = Bench::new();
    let target = bench.build_text("handle_again", HANDLE_AGAIN);
    let done = bench.explore("--schedules 200 --seconds 60", &[&target]);
    let why = done.report["stats"]["not_complete"].as_str().unwrap_or_default();
    let is_said = done.stat("exhausted") != true && why.contains("an ordinary run failed");
    assert!(is_said || !done.kinds().is_empty(), "{}", done.report["stats"]);
}
