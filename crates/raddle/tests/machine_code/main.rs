//! `raddle run` on programs that nobody built for it: it watches a copy of their machine code.
//!
//! All of them run poisoned (`RADDLE_POISON=1`): the original functions are overwritten with traps,
//! so that a jump that leaves the copy ends the program. Each prints the same as without raddle.

#[path = "../common/mod.rs"]
mod common;
mod libraries;
mod loops;
mod schedules;

use common::run::DetectedRun;
use common::{Bench, succeed};

const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// Two threads count without a lock, and with one.
const COUNTERS: &str = "#include <pthread.h>
#include <stdio.h>
int counter, guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void bump(void) { counter++; }
__attribute__((noinline)) static void *work(void *a) {
    for (int i = 0; i < 1000; i++) {
        bump();
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
    }
    return a;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf(\"%d\\n\", guarded);
    return 0;
}
";

/// Locks, atomics, a flag, results on the stack of main; jump tables, longjmp, strings, vectors,
/// floating point, callbacks, a signal handler.
const RIGHT: &str = "#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int guarded, data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int count, ready;
static jmp_buf back;
static volatile sig_atomic_t signals;
static volatile int jumps;
static void on_signal(int s) { signals += s; }
static int by_table(int x) {
    switch (x % 8) {
    case 0: return 3;
    case 1: return x * 7;
    case 2: return x ^ 55;
    case 3: return x - 9;
    case 4: return 100 - x;
    case 5: return x << 3;
    case 6: return x | 64;
    default: return -x;
    }
}
static int by_goto(const char *program) {
    static void *const labels[] = {&&add, &&twice, &&end};
    int x = 1;
    goto *labels[(int)*program++];
add: x += 5; goto *labels[(int)*program++];
twice: x *= 2; goto *labels[(int)*program++];
end: return x;
}
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static double sum(int n, ...) {
    va_list list;
    va_start(list, n);
    double s = 0;
    while (n--) s += va_arg(list, double);
    va_end(list);
    return s;
}
__attribute__((noinline)) static void jump(int n) { if (n) jump(n - 1); else longjmp(back, 7); }
static void *work(void *a) {
    int local = 0;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&count, 1);
        local += by_table(i);
    }
    *(int *)a = local;
    return a;
}
static void *reader(void *a) {
    while (!atomic_load(&ready)) {}
    *(int *)a = data;
    return a;
}
struct large { char bytes[300]; };
int main(void) {
    pthread_t t[3];
    int result[3];
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &result[i]);
    pthread_create(&t[2], 0, reader, &result[2]);
    data = 42;
    atomic_store(&ready, 1);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    if (setjmp(back) == 0 || jumps++ < 3) jump(20);
    raise(SIGUSR1);
    float v[100];
    for (int i = 0; i < 100; i++) v[i] = i * 0.5f + 1;
    for (int i = 1; i < 100; i++) v[i] += v[i - 1];
    long double wide = 1.25L;
    for (int i = 0; i < 10; i++) wide *= 1.5L;
    int order[50];
    for (int i = 0; i < 50; i++) order[i] = i * 37 % 50;
    qsort(order, 50, sizeof *order, compare);
    struct large one, two;
    memset(&one, 'x', sizeof one);
    two = one;
    printf(\"%d %d %d %d %d %d %d %f %Lf %d %d %c %f\\n\", guarded, count, result[0], result[1], result[2],
           by_goto(\"\\0\\1\\0\\2\"), (int)signals, v[99], wide, order[7], jumps, two.bytes[299],
           sum(3, 1.5, 2.5, (double)v[3]));
    return 0;
}
";

/// Exceptions through several functions, caught and thrown again; a race beside them.
const EXCEPTIONS: &str = "#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
std::mutex lock;
std::map<std::string, int> caught;
int counter, destroyed;
struct Counts { ~Counts() { std::lock_guard<std::mutex> guard(lock); destroyed++; } };
__attribute__((noinline)) int deep(int n) {
    Counts counts;
    if (n == 0) throw std::runtime_error(\"deep\");
    try {
        return deep(n - 1) + 1;
    } catch (const std::logic_error &) {
        return 0;
    }
}
__attribute__((noinline)) void work(int k) {
    for (int i = 0; i < 200; i++) {
        try {
            try {
                deep(i % 7);
            } catch (...) {
                throw;
            }
        } catch (const std::exception &e) {
            std::lock_guard<std::mutex> guard(lock);
            caught[e.what() + std::to_string(k)]++;
        }
        counter++;
    }
}
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) threads.emplace_back(work, i);
    for (auto &t : threads) t.join();
    auto shared = std::make_shared<int>(5);
    for (auto &[what, n] : caught) std::cout << what << ' ' << n << ' ' << *shared << '\\n';
    std::cout << destroyed << '\\n';
}
";

/// Builds `source` with a plain compiler, runs it with and without raddle, and compares what it
/// prints.
#[track_caller]
fn watched(bench: &Bench, compiler: &str, flags: &[&str], file: &str, source: &str) -> DetectedRun {
    bench.file(file, source);
    succeed(bench.command(compiler).args(["-g", "-pthread", file, "-o", "program"]).args(flags));
    let plain = succeed(&mut bench.command("./program"));
    let mut run = bench.run_command("--format json -o report.json", &["./program"]);
    let outcome = bench.outcome(run.env("RADDLE_POISON", "1").output().unwrap());
    assert_eq!(outcome.stdout, plain, "{compiler} {flags:?}: {}", outcome.stderr);
    outcome
}

#[test]
fn races_are_suspected_with_both_stacks() {
    let bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        for level in LEVELS {
            let outcome = watched(&bench, compiler, &[level], "counters.c", COUNTERS);
            outcome.assert_races(&["counter"]);
            let finding = &outcome.findings()[0];
            assert_eq!(finding["confidence"], "suspected");
            assert!(finding["notes"].to_string().contains("machine code"), "{finding:#}");
            for access in finding["accesses"].as_array().unwrap() {
                let names: Vec<&str> = access["stack"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|f| f["function"].as_str())
                    .collect();
                assert_eq!(names[..2], ["bump", "work"], "{compiler} {level}: {finding:#}");
            }
            assert!(
                outcome.stderr.contains("is not instrumented: raddle watches a copy"),
                "{}",
                outcome.stderr
            );
            assert_eq!(outcome.stat("functions_watched"), outcome.stat("functions"));
            assert_eq!(outcome.stat("accesses_watched"), outcome.stat("accesses"));
        }
    }
}

#[test]
fn right_programs_are_silent_and_do_what_they_do() {
    let bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        for level in [LEVELS[0], LEVELS[1], LEVELS[2], "-O3"] {
            let outcome = watched(&bench, compiler, &[level], "right.c", RIGHT);
            assert_eq!(outcome.status, 0, "{compiler} {level}: {:#}", outcome.report["findings"]);
            assert!(outcome.findings().is_empty(), "{compiler} {level}: {:#}", outcome.report["findings"]);
        }
    }
}

/// What watches a thread works on the thread's stack, and brings the room for that along.
#[test]
fn threads_with_small_stacks_have_enough() {
    let bench = Bench::new();
    let small = include_str!("../../../../corpus/race/threads/small_stack_ok.c");
    for compiler in ["gcc", "clang-19"] {
        for level in LEVELS {
            let outcome = watched(&bench, compiler, &[level], "small.c", small);
            assert_eq!(outcome.status, 0, "{compiler} {level}: {}", outcome.stderr);
            assert!(outcome.findings().is_empty(), "{compiler} {level}: {:#}", outcome.report["findings"]);
        }
    }
}

/// So do those whose small stacks are the default, also threads of C11, which have no attributes.
#[test]
fn a_small_default_for_stacks_is_enough() {
    let bench = Bench::new();
    bench.file(
        "default.c",
        "#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <threads.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static int work(void *a) {
    volatile char room[24 * 1024];
    memset((char *)room, 1, sizeof room);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 100; i++) sum += room[i * 240];
    pthread_mutex_unlock(&lock);
    return a != 0;
}
static void *posix(void *a) { work(a); return a; }
int main(void) {
    pthread_attr_t small;
    pthread_getattr_default_np(&small);
    pthread_attr_setstacksize(&small, 32 * 1024);
    pthread_setattr_default_np(&small);
    pthread_t t;
    pthread_create(&t, 0, posix, 0);
    pthread_join(t, 0);
    pthread_attr_init(&small);
    pthread_create(&t, &small, posix, 0);
    pthread_join(t, 0);
    thrd_t c;
    thrd_create(&c, work, 0);
    thrd_join(c, 0);
    return sum != 300;
}
",
    );
    succeed(bench.command("gcc").args(["-g", "-O1", "-pthread", "default.c", "-o", "program"]));
    succeed(&mut bench.command("./program"));
    let outcome = bench.run("", &["./program"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

/// The blocks are the C library's, whichever allocator the program is linked with.
#[test]
fn a_program_with_another_allocator_is_watched() {
    let bench = Bench::new();
    bench.file("other.c", "#include <stdlib.h>\nsize_t malloc_usable_size(void *p) { abort(); }\n");
    succeed(bench.command("gcc").args(["-shared", "-fPIC", "-w", "other.c", "-o", "libother.so"]));
    let uses = "size_t malloc_usable_size(void *);\nint main(void) {\n    char *copy = strdup(\"some text\");
    if (malloc_usable_size(copy) < 10) return 3;\n    free(copy);";
    let source = COUNTERS.replace("int main(void) {", uses);
    bench.file("counters.c", &format!("#include <stdlib.h>\n#include <string.h>\n{source}"));
    let library = ["-L.", "-Wl,--no-as-needed", "-lother", "-Wl,-rpath,$ORIGIN"];
    succeed(bench.command("gcc").args(["-g", "-pthread", "counters.c", "-o", "program"]).args(library));
    bench.run("", &["./program"]).assert_races(&["counter"]);
}

#[test]
fn the_doctor_says_how_much_is_watched() {
    let bench = Bench::new();
    bench.file("counters.c", COUNTERS);
    succeed(bench.command("gcc").args(["-g", "-pthread", "counters.c", "-o", "program"]));
    // The second time the copy comes from the cache.
    for _ in 0..2 {
        let told = succeed(&mut bench.raddle("doctor ./program"));
        assert!(told.contains("100%) functions and") && told.contains("100%) instructions"), "{told}");
    }
}

#[test]
fn a_program_with_address_sanitizer_is_refused_before_it_runs() {
    let bench = Bench::new();
    bench.file("counters.c", COUNTERS);
    succeed(bench.command("gcc").args(["-fsanitize=address", "-pthread", "counters.c", "-o", "program"]));
    let sentence = bench.refused_run("", &["./program"]);
    assert!(sentence.contains("AddressSanitizer"), "{sentence}");
}

/// A program at a fixed address, and one without symbols.
#[test]
fn fixed_and_stripped_programs() {
    let bench = Bench::new();
    watched(&bench, "gcc", &["-O2", "-no-pie", "-fno-pie"], "counters.c", COUNTERS)
        .assert_races(&["counter"]);
    let outcome = watched(&bench, "gcc", &["-O2", "-s"], "counters.c", COUNTERS);
    assert_eq!((outcome.status, outcome.findings().len()), (66, 1), "{:#}", outcome.report["findings"]);
}

#[test]
fn exceptions_find_their_handlers_and_leave_the_stack_right() {
    let bench = Bench::new();
    for compiler in ["g++", "clang++-19"] {
        for level in LEVELS {
            let outcome = watched(&bench, compiler, &[level], "exceptions.cc", EXCEPTIONS);
            outcome.assert_races(&["counter"]);
            for access in outcome.findings()[0]["accesses"].as_array().unwrap() {
                let stack = access["stack"].to_string();
                assert!(!stack.contains("deep"), "{compiler} {level}: {stack}");
            }
        }
    }
}

#[test]
fn only_what_was_built_for_raddle_if_so_wanted() {
    let bench = Bench::new();
    bench.file("counters.c", COUNTERS);
    succeed(bench.command("gcc").args(["-pthread", "counters.c", "-o", "program"]));
    let mut run = bench.run_command("--instrument no", &["./program"]);
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = common::stderr(&output);
    assert!(told.contains("nothing in `./program`") && told.contains("--instrument yes"), "{told}");
}

/// What starts other programs may be there for their sake.
#[test]
fn a_program_that_starts_others_is_watched_only_if_so_wanted() {
    let bench = Bench::new();
    let source = COUNTERS.replace("return 0;", "return guarded > 0 ? system(\"exit 0\") : 1;");
    bench.file("counters.c", &format!("#include <stdlib.h>\n{source}"));
    succeed(bench.command("gcc").args(["-g", "-pthread", "counters.c", "-o", "program"]));
    let output = bench.run_command("", &["./program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", common::stderr(&output));
    bench.run("--instrument yes", &["./program"]).assert_races(&["counter"]);
}

#[test]
fn an_unwinder_of_its_own_is_refused_before_the_program_runs() {
    let bench = Bench::new();
    bench.file("exceptions.cc", EXCEPTIONS);
    let arguments = ["-pthread", "-static-libgcc", "-static-libstdc++", "exceptions.cc", "-o", "program"];
    succeed(bench.command("g++").args(arguments));
    let sentence = bench.refused_run("", &["./program"]);
    assert!(sentence.contains("not instrumented") && sentence.contains("unwinder"), "{sentence}");
}

/// A random function of two threads: what it does, in C, and which cells of 16 bytes it reads and
/// writes.
struct Touches {
    body: String,
    reads: [bool; CELLS],
    writes: [bool; CELLS],
}

const CELLS: usize = 8;

impl Touches {
    /// `steps` vector accesses in straight code, with calls, locals and a way into the middle.
    fn random(random: &mut impl FnMut(usize) -> usize, steps: usize, writes: usize, skips: bool) -> Touches {
        let mut made = Touches { body: String::new(), reads: [false; CELLS], writes: [false; CELLS] };
        let middle = random(steps);
        made.body += "    if (skip) goto middle;\n";
        for step in 0..steps {
            if step == middle {
                made.body += "middle:\n";
            }
            let cell = random(CELLS);
            let is_executed = !skips || step >= middle;
            if random(10) < writes {
                made.body += &format!("    CELL(p, {cell}) = v;\n");
                made.writes[cell] |= is_executed;
            } else {
                made.body += &format!("    v += CELL(p, {cell});\n");
                made.reads[cell] |= is_executed;
            }
            match random(12) {
                0 => made.body += "    other();\n",
                1 => made.body += "    p += 4; p -= *four;\n",
                _ => {}
            }
        }
        made
    }

    fn races_with(&self, other: &Touches) -> bool {
        (0..CELLS).any(|c| {
            self.writes[c] && (other.reads[c] || other.writes[c]) || self.reads[c] && other.writes[c]
        })
    }
}

/// Probes that stand for several accesses find the races that each access would have found, and no
/// others: held against what the random programs do, and against a probe for each access.
#[test]
fn merged_probes_find_the_same_races() {
    const VARIABLES: usize = 12;
    let bench = Bench::new();
    for (seed, compiler, level) in [(1, "gcc", "-O1"), (2, "clang-19", "-O1"), (3, "gcc", "-O2")] {
        let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed);
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut source = String::from(
            "#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#define CELL(p, n) (*(volatile __m128 *)((p) + 4 * (n)))
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static volatile long four_floats = 4;
__attribute__((noinline)) static void other(void) { __asm__ volatile(\"\" ::: \"memory\"); }
",
        );
        let (mut expected, mut both) = (Vec::new(), [String::new(), String::new()]);
        for n in 0..VARIABLES {
            source += &format!("_Alignas(64) float v{n:02}[32];\n");
            let skips = [random(2) == 1, random(2) == 1];
            let touches =
                [Touches::random(&mut random, 14, 5, skips[0]), Touches::random(&mut random, 2, 3, skips[1])];
            for (thread, made) in touches.iter().enumerate() {
                source += &format!(
                    "__attribute__((noinline)) static __m128 f{n}_{thread}(float *p, int skip, const long *four) {{
    __m128 v = _mm_set1_ps(1);
{}    return v;
}}\n",
                    made.body
                );
                let skip = i32::from(skips[thread]);
                both[thread] += &format!("    f{n}_{thread}(v{n:02}, {skip}, &four);\n");
            }
            if touches[0].races_with(&touches[1]) {
                expected.push(format!("v{n:02}"));
            }
        }
        let [first, second] = both;
        source += &format!(
            "static void *first(void *a) {{
    long four = four_floats;
{first}    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return a;
}}
static void *second(void *a) {{
    long four = 4;
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
{second}    return a;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}}
"
        );
        let merged = watched(&bench, compiler, &[level], "random.c", &source);
        let mut run = bench.run_command("--format json -o report.json", &["./program"]);
        let kept = bench.outcome(run.env("RADDLE_KEEP_PROBES", "1").output().unwrap());
        for (outcome, kind) in [(merged, "merged"), (kept, "kept")] {
            let mut variables: Vec<&str> = outcome.variables();
            variables.sort_unstable();
            variables.dedup();
            assert_eq!(variables, expected, "{compiler} {level}, seed {seed}, {kind}:\n{source}");
        }
        assert!(expected.len() > 2 && expected.len() < VARIABLES - 2, "{expected:?}");
    }
}

const GENERAL: [&str; 15] =
    ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

/// A function that fills all registers, the flags and two words of the red zone, executes `access`,
/// in which B is the register at `base` and A another one, and writes down what it finds.
fn around(name: &str, access: &str, base: usize, vectors: usize) -> String {
    let register = |n: usize| format!("%{}", GENERAL[n % GENERAL.len()]);
    let access = access.replace('B', &register(base)).replace('A', &register(base + 4));
    let each = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(|i| line(i) + "\n").collect::<String>();
    let saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"];
    let all = GENERAL.len();
    [
        format!("{name}:\n"),
        each(6, &|n| format!("push %{}", saved[n])),
        each(vectors, &|n| format!("movups vin+{}(%rip),%xmm{n}", 16 * n)),
        each(all, &|n| format!("mov in+{}(%rip),{}", 8 * n, register(n))),
        format!("lea memory(%rip),{}\npush flags(%rip)\npopfq\n", register(base)),
        format!("mov {0},-8(%rsp)\nmov {0},-128(%rsp)\n{access}\n", register(base + 1)),
        each(all, &|n| format!("mov {},out+{}(%rip)", register(n), 8 * n)),
        "mov -8(%rsp),%rax\nmov %rax,out+120(%rip)\nmov -128(%rsp),%rax\nmov %rax,out+128(%rip)\n".into(),
        "pushfq\npop %rax\nmov %rax,out+136(%rip)\n".into(),
        each(vectors, &|n| format!("movups %xmm{n},vout+{}(%rip)", 16 * n)),
        each(6, &|n| format!("pop %{}", saved[5 - n])),
        "ret\n".into(),
    ]
    .concat()
}

/// Calls each function with several flags, the first time with accesses that the detector has not
/// seen yet, and prints all that it left.
fn around_all(functions: usize, assembly: &str) -> String {
    let lines: String = assembly.lines().map(|l| format!("\"{l}\\n\"\n")).collect();
    let names: String = (0..functions).map(|n| format!("f{n}, ")).collect();
    let declared: String = (0..functions).map(|n| format!("void f{n}(void);\n")).collect();
    format!(
        "#include <pthread.h>\n#include <stdint.h>\n#include <stdio.h>\n
uint64_t in[15], out[18], vin[32], vout[32], flags;
__attribute__((aligned(64))) unsigned char memory[128];
asm(\".text\\n\"\n{lines});
{declared}void (*const all[])(void) = {{ {names} }};
static void *work(void *argument) {{
    for (int i = 0; i < 15; i++) in[i] = 0x0123456789abcdefu * (2 * i + 3);
    for (int i = 0; i < 32; i++) vin[i] = 0xfedcba9876543211u * (2 * i + 1);
    const uint64_t status[] = {{ 0x202, 0xad7, 0x203, 0xa42, 0x296 }};
    for (int f = 0; f < {functions}; f++)
        for (int turn = 0; turn < 10; turn++) {{
            flags = status[turn % 5];
            all[f]();
            uint64_t hash = 7;
            for (int i = 0; i < 18; i++) {{
                uint64_t value = out[i] - (out[i] == (uint64_t)memory ? (uint64_t)memory : 0);
                hash = (hash ^ value) * 0x100000001b3u;
            }}
            for (int i = 0; i < 32; i++) hash = (hash ^ vout[i]) * 0x100000001b3u;
            for (int i = 0; i < 128; i++) hash = (hash ^ memory[i]) * 0x100000001b3u;
            printf(\"%d %d %lx\\n\", f, turn, hash);
        }}
    return argument;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}}
"
    )
}

/// With eight vector registers checks have others to keep things in, with sixteen only the stack.
#[test]
fn registers_flags_and_the_red_zone_stay_as_they_are_around_accesses() {
    const ACCESSES: [&str; 16] = [
        "movb $1,(B)",
        "movw $2,6(B)",
        "movl $3,4(B)",
        "movq A,8(B)",
        "movups %xmm3,16(B)",
        "movzbl 3(B),%ecx",
        "movl 12(B),%eax",
        "movq 8(B),%rcx",
        "movsd 8(B),%xmm1",
        "adcq $5,40(B)",
        "cmpl $3,4(B)",
        // Across granules, and within one.
        "movq A,53(B)",
        "movl 61(B),%edx",
        "movw 33(B),%r11w",
        "movups 9(B),%xmm5",
        "lea -128(%rsp),%rsp\npush 8(B)\npop 24(B)\nlea 128(%rsp),%rsp",
    ];
    let bench = Bench::new();
    for vectors in [8, 16] {
        let bases = [0, 1, 3, 5, 12];
        let cases = ACCESSES.iter().flat_map(|a| bases.map(|base| (*a, base)));
        let functions: Vec<String> =
            cases.enumerate().map(|(n, (a, base))| around(&format!("f{n}"), a, base, vectors)).collect();
        let typed: String = functions
            .iter()
            .enumerate()
            .map(|(n, f)| format!(".type f{n},@function\n{f}.size f{n},.-f{n}\n"))
            .collect();
        let outcome = watched(&bench, "gcc", &["-O1"], "around.c", &around_all(functions.len(), &typed));
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(outcome.stat("functions_watched"), outcome.stat("functions"));
        assert!(outcome.stat("accesses_watched") > 80 * 40);
    }
}
