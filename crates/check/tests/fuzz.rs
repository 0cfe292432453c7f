//! The front end and the interpreter on random input: an answer within bounds, the same one twice,
//! never a panic.
//!
//! Three kinds of input: bytes; words of C in any order, which reach the corners of the parser; and
//! programs that make sense, with threads, locks, jumps and handlers in any combination, which
//! reach those of the interpreter. proptest shrinks what fails and keeps its seed in
//! `fuzz.proptest-regressions`, which belongs into the repository; `PROPTEST_CASES=100000` looks
//! further.

use proptest::prelude::*;
use raddle_check::c::commands;
use raddle_check::explore::Budget;
use raddle_check::interp::Bounds;
use raddle_check::{CheckOptions, CheckOutcome, Source, check_sources};

/// As many cases as are asked for, or few.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(100), ..ProptestConfig::default() }
}

fn small() -> CheckOptions {
    let run = Bounds { steps: 3_000, heap: 1 << 18, threads: 6, call_depth: 40 };
    let budget = Budget { run, steps: 15_000, runs: 5, stale: 3, quiet: 5, seed: 1 };
    CheckOptions { budget, ..CheckOptions::default() }
}

/// Checks a text and holds the answer against what is promised of every answer.
fn check(text: &[u8]) -> CheckOutcome {
    let sources = [Source::new("fuzz.c", text)];
    let out = check_sources(&sources, &small());
    // A run may finish the step at which it is stopped, and link and entry have a step each.
    assert!(out.stats.steps <= 40_000, "{} steps", out.stats.steps);
    let lines = text.split(|b| *b == b'\n').count() as u32;
    for f in &out.findings {
        assert!(!f.id.is_empty() && !f.accesses.is_empty(), "{f:?}");
        for frame in f.accesses.iter().flat_map(|a| &a.stack) {
            assert!(frame.line.is_some_and(|l| l >= 1), "{frame:?}");
            // A `#line` in the text may say anything.
            let plain = frame.file.as_deref() == Some("fuzz.c") && !text.contains(&b'#');
            assert!(!plain || frame.line.is_some_and(|l| l <= lines), "{frame:?} of {lines}");
        }
    }
    out
}

const WORDS: &[&str] = &[
    "int",
    "char",
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "extern",
    "const",
    "volatile",
    "_Atomic",
    "void",
    "unsigned",
    "long",
    "double",
    "_Bool",
    "inline",
    "return",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "goto",
    "sizeof",
    "_Alignof",
    "_Generic",
    "_Static_assert",
    "__attribute__",
    "__typeof__",
    "__extension__",
    "asm",
    "({",
    "})",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    "->",
    "...",
    "*",
    "&",
    "+",
    "-",
    "=",
    "==",
    "<",
    "<<=",
    "?",
    ":",
    "!",
    "~",
    "&&",
    "||",
    "++",
    "--",
    "%",
    "x",
    "y",
    "f",
    "main",
    "T",
    "0",
    "1",
    "0x7fffffffffffffff",
    "1.5e3f",
    "'a'",
    "'\\x41'",
    "\"text %d %s\"",
    "L\"wide\"",
    "\n",
    "\n#define x y\n",
    "\n#define F(a, ...) a ## x #__VA_ARGS__\n",
    "F(",
    "\n#if x\n",
    "\n#elif defined(y)\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#include <pthread.h>\n",
    "\n#undef x\n",
    "\n#line 7 \"g.c\"\n",
    "\n# 3 \"h.c\" 2\n",
    "\n#pragma omp parallel for\n",
    "\n#pragma omp critical(n)\n",
    "\n#pragma omp task\n",
    "\n#pragma omp threadprivate(x)\n",
    "/* c */",
    "// c\n",
    "\\\n",
    "pthread_t",
    "pthread_mutex_t",
    "pthread_create(&x, 0, f, 0)",
    "pthread_mutex_lock(&x)",
    "setjmp(x)",
    "longjmp(x, 1)",
    "atomic_fetch_add(&x, 1)",
    "__atomic_load_n(&x, 5)",
    "__builtin_va_arg(x, int)",
    "__builtin_offsetof(struct T, x)",
    "malloc(x)",
    "free(x)",
    "memcpy(x, y, 9)",
    "signal(2, f)",
    "__raddle_lock(x)",
    "__raddle_set_mask(x)",
    "__raddle_jump(x, y)",
];

/// Statements that make sense in a function with `int i`, `int *p`, `struct s *q`, `jmp_buf env`
/// and the globals below.
const STATEMENTS: &[&str] = &[
    "g++;",
    "h = g;",
    "q->a = i;",
    "q->next = q;",
    "p[i & 3]++;",
    "*p = g;",
    "p = &table[i & 7];",
    "i = i * 3 + 1;",
    "pthread_mutex_lock(&l);",
    "pthread_mutex_unlock(&l);",
    "pthread_mutex_lock(&m);",
    "pthread_mutex_unlock(&m);",
    "if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m);",
    "pthread_rwlock_rdlock(&r);",
    "pthread_rwlock_wrlock(&r);",
    "pthread_rwlock_unlock(&r);",
    "pthread_cond_wait(&c, &l);",
    "pthread_cond_signal(&c);",
    "pthread_cond_broadcast(&c);",
    "sem_wait(&s);",
    "sem_post(&s);",
    "pthread_barrier_wait(&b);",
    "atomic_fetch_add(&n, 1);",
    "while (atomic_load(&n) < i) sched_yield();",
    "pthread_create(&t, 0, work, q);",
    "pthread_join(t, 0);",
    "pthread_cancel(t);",
    "pthread_exit(0);",
    "return 0;",
    "signal(SIGINT, handler);",
    "sigfillset(&set);",
    "pthread_sigmask(SIG_BLOCK, &set, 0);",
    "pthread_sigmask(SIG_SETMASK, &set, &set);",
    "if (setjmp(env)) i = 9;",
    "longjmp(env, 2);",
    "q = malloc(sizeof *q);",
    "free(q);",
    "q = calloc(i, sizeof *q);",
    "q = &q[i];",
    "memset(q, 0, sizeof *q);",
    "i = unknown(&g);",
    "if (unknown2(i)) g = 1; else h = 2;",
    "for (i = 0; i < h; i++) g += i;",
    "switch (i) { case 1: g = 1; break; case 2 ... 9: h = 1; default: g = 2; }",
    "goto out;",
    "work(q);",
    "pipe(fds);",
    "read(fds[0], p, 4);",
    "write(fds[1], p, 4);",
    "scanf(\"%d %*s %ld\", &g, &h);",
    "usleep(5);",
    "pthread_once(&once, init);",
    "pthread_setspecific(key, q);",
    "pthread_key_create(&key, free);",
    "fn = work; fn(q);",
    "atomic_thread_fence(memory_order_seq_cst);",
    "exit(3);",
    "alarm(1); pause();",
    "sprintf(text, \"%s\", text);",
];

fn program(first: &[usize], second: &[usize], handler: &[usize]) -> String {
    let body = |list: &[usize]| list.iter().map(|i| format!("    {}\n", STATEMENTS[*i])).collect::<String>();
    let locals = "    int i = 1; int *p = table; struct s *q = arg; jmp_buf env; pthread_t t; sigset_t set; void *(*fn)(void *);\n";
    format!(
        "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <signal.h>\n\
         struct s {{ int a; struct s *next; }}; int g, h, table[8], fds[2]; char text[9]; atomic_int n;\n\
         pthread_mutex_t l, m; pthread_rwlock_t r; pthread_cond_t c; sem_t s; pthread_barrier_t b;\n\
         pthread_once_t once; pthread_key_t key; struct s one;\n\
         void init(void) {{ g = 4; }}\nvoid *work(void *arg);\n\
         void handler(int x) {{\n    void *arg = &one;\n{locals}{}out: ;\n}}\n\
         void *work(void *arg) {{\n{locals}{}out:\n    return 0;\n}}\n\
         int main(int argc, char **argv) {{\n    void *arg = &one;\n{locals}    pthread_create(&t, 0, work, &one);\n{}out:\n    return g;\n}}\n",
        body(handler).replace("return 0;", "return;"),
        body(second),
        body(first)
    )
}

fn statements(most: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..STATEMENTS.len(), 0..most)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bytes(text in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&text);
    }

    #[test]
    fn words_in_any_order(words in prop::collection::vec(0..WORDS.len(), 0..120)) {
        let text: Vec<&str> = words.iter().map(|i| WORDS[*i]).collect();
        check(text.join(" ").as_bytes());
    }

    #[test]
    fn programs_that_make_sense(first in statements(25), second in statements(25), handler in statements(6)) {
        let text = program(&first, &second, &handler);
        let (one, two) = (check(text.as_bytes()), check(text.as_bytes()));
        prop_assert_eq!(one.stats, two.stats);
        prop_assert_eq!(one.findings, two.findings);
    }

    #[test]
    fn compile_commands(text in "(\\[|\\{|\\]|\\}|,|:|\"|\\\\|file|command|arguments|directory|-I|-D|-include |@x|[a-z ]){0,60}",
        words in prop::collection::vec("(-[A-Za-z]{1,9}|@|-D|-I|-include|-std=|=|\\n|[a-z./@-]{0,8})", 0..12)) {
        let _ = commands::parse(&text);
        let json = serde_json::json!([{ "directory": "/d", "file": "a.c", "arguments": words }]).to_string();
        for c in commands::parse(&json).expect("it is JSON").all {
            let arguments = c.arguments();
            let mut expect_value = false;
            for a in arguments {
                let known = ["-I", "-iquote", "-isystem", "-D", "-U", "-std=", "-fopenmp", "-pthread", "-ansi", "-nostdinc",
                    "-m32", "-m64", "-fno-builtin", "-include", "-imacros"].iter().any(|k| a.starts_with(k));
                prop_assert!(expect_value != known || expect_value && !a.starts_with(['-', '@']), "{}", a);
                expect_value = !expect_value && (a == "-include" || a == "-imacros");
            }
        }
    }
}
