//! Random small racy programs: as C, as Rust, and every way they can end, by brute force at the
//! granularity of single accesses.
//!
//! Threads work on shared variables, some of them atomic, and on mutexes; what they read decides
//! what they do next. The first thread joins the others, makes one number of all that was computed,
//! and adds it to the file `outcomes` as a byte. The file is opened before there are threads: it is
//! the same in every execution.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

pub const PLAIN: usize = 3;
const REGISTERS: usize = 3;

#[derive(Clone, Debug)]
enum Statement {
    Load(usize, usize),
    Store(usize, i64),
    /// Variable := register + constant.
    StoreSum(usize, usize, i64),
    Increment(usize),
    /// Register := the atomic variable, which grows by one.
    FetchAdd(usize, usize),
    AtomicLoad(usize, usize),
    /// Register := the atomic variable, which becomes 5 if it was 1.
    CompareExchange(usize, usize),
    Locked(usize, Vec<Statement>),
    /// If nobody has the mutex.
    TryLocked(usize, Vec<Statement>),
    /// If the variable is 0.
    IfZero(usize, Vec<Statement>),
    /// If it is 0, and still is with the mutex held.
    Twice(usize, usize, Vec<Statement>),
}

pub struct Program {
    threads: Vec<Vec<Statement>>,
}

/// A generator that needs no more than this: xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
}

impl Program {
    pub fn random(seed: u64) -> Program {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (threads, statements) = if dice.below(4) == 0 { (3, 2) } else { (2, 3) };
        Program { threads: (0..threads).map(|_| block(&mut dice, statements, 1)).collect() }
    }
}

fn block(dice: &mut Dice, most: usize, depth: usize) -> Vec<Statement> {
    use Statement::*;
    let n = 1 + dice.below(most);
    let mut statements = Vec::new();
    for _ in 0..n {
        let (variable, register) = (dice.below(PLAIN), dice.below(REGISTERS));
        let inside = |dice: &mut Dice| block(dice, 2, 0);
        statements.push(match dice.below(if depth > 0 { 13 } else { 8 }) {
            0 | 1 => Load(variable, register),
            2 => Store(variable, 1 + dice.below(2) as i64),
            3 => StoreSum(variable, register, dice.below(2) as i64),
            4 => Increment(variable),
            5 => FetchAdd(dice.below(2), register),
            6 => AtomicLoad(dice.below(2), register),
            7 => CompareExchange(dice.below(2), register),
            8 => Locked(dice.below(2), inside(dice)),
            9 | 10 => Twice(variable, dice.below(2), inside(dice)),
            11 => TryLocked(dice.below(2), inside(dice)),
            _ => IfZero(variable, inside(dice)),
        });
    }
    statements
}

/// Single accesses.
#[derive(Clone, Copy)]
enum Access {
    Load(usize, usize),
    Store(usize, i64),
    StoreSum(usize, usize, i64),
    FetchAdd(usize, usize),
    AtomicLoad(usize, usize),
    CompareExchange(usize, usize),
    Lock(usize),
    /// To the target if somebody has the mutex.
    TryLock(usize, usize),
    Unlock(usize),
    /// To the target if the hidden register is not 0.
    SkipUnlessZero(usize),
}

/// What is read for a condition or an increment.
const HIDDEN: usize = REGISTERS;

fn lower(statements: &[Statement], code: &mut Vec<Access>) {
    for statement in statements {
        match statement {
            Statement::Load(v, r) => code.push(Access::Load(*v, *r)),
            Statement::Store(v, k) => code.push(Access::Store(*v, *k)),
            Statement::StoreSum(v, r, k) => code.push(Access::StoreSum(*v, *r, *k)),
            Statement::Increment(v) => {
                code.extend([Access::Load(*v, HIDDEN), Access::StoreSum(*v, HIDDEN, 1)])
            }
            Statement::FetchAdd(a, r) => code.push(Access::FetchAdd(*a, *r)),
            Statement::AtomicLoad(a, r) => code.push(Access::AtomicLoad(*a, *r)),
            Statement::CompareExchange(a, r) => code.push(Access::CompareExchange(*a, *r)),
            Statement::TryLocked(m, inside) => {
                let skip = code.len();
                code.push(Access::TryLock(*m, 0));
                lower(inside, code);
                code.push(Access::Unlock(*m));
                code[skip] = Access::TryLock(*m, code.len());
            }
            Statement::Locked(m, inside) => {
                code.push(Access::Lock(*m));
                lower(inside, code);
                code.push(Access::Unlock(*m));
            }
            Statement::IfZero(v, inside) => {
                lower_if(*v, code, |code| lower(inside, code));
            }
            Statement::Twice(v, m, inside) => lower_if(*v, code, |code| {
                code.push(Access::Lock(*m));
                lower_if(*v, code, |code| lower(inside, code));
                code.push(Access::Unlock(*m));
            }),
        }
    }
}

fn lower_if(variable: usize, code: &mut Vec<Access>, inside: impl FnOnce(&mut Vec<Access>)) {
    code.push(Access::Load(variable, HIDDEN));
    let skip = code.len();
    code.push(Access::SkipUnlessZero(0));
    inside(code);
    code[skip] = Access::SkipUnlessZero(code.len());
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    plain: [i64; PLAIN],
    atomic: [i64; 2],
    held: [bool; 2],
    threads: Vec<(usize, [i64; REGISTERS + 1])>,
}

impl State {
    /// The thread makes its next access. Nothing: it cannot, now.
    fn step(&self, code: &[Vec<Access>], t: usize) -> Option<State> {
        let mut next = self.clone();
        let (at, r) = &mut next.threads[t];
        let access = *code[t].get(*at)?;
        *at += 1;
        match access {
            Access::Load(v, x) => r[x] = next.plain[v],
            Access::Store(v, k) => next.plain[v] = k,
            Access::StoreSum(v, x, k) => next.plain[v] = r[x] + k,
            Access::FetchAdd(a, x) => {
                r[x] = next.atomic[a];
                next.atomic[a] += 1;
            }
            Access::AtomicLoad(a, x) => r[x] = next.atomic[a],
            Access::CompareExchange(a, x) => {
                r[x] = next.atomic[a];
                if r[x] == 1 {
                    next.atomic[a] = 5;
                }
            }
            Access::TryLock(m, to) if next.held[m] => *at = to,
            Access::TryLock(m, _) => next.held[m] = true,
            Access::Lock(m) if next.held[m] => return None,
            Access::Lock(m) => next.held[m] = true,
            Access::Unlock(m) => next.held[m] = false,
            Access::SkipUnlessZero(to) if r[HIDDEN] != 0 => *at = to,
            Access::SkipUnlessZero(_) => {}
        }
        Some(next)
    }

    /// What the program adds to the file.
    fn outcome(&self) -> u8 {
        let shared = self.plain.iter().chain(&self.atomic);
        let registers = self.threads.iter().flat_map(|(_, r)| &r[..REGISTERS]);
        shared.chain(registers).fold(0, |h, v| (h * 31 + v) % 251) as u8
    }
}

/// The mutexes of a program in C.
const INITIALISED: &str = "pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};";

impl Program {
    /// Everything that it can add to the file.
    pub fn outcomes(&self) -> BTreeSet<u8> {
        let code: Vec<Vec<Access>> = self
            .threads
            .iter()
            .map(|statements| {
                let mut code = Vec::new();
                lower(statements, &mut code);
                code
            })
            .collect();
        let threads = vec![(0, [0; REGISTERS + 1]); code.len()];
        let first = State { plain: [0; PLAIN], atomic: [0; 2], held: [false; 2], threads };
        let (mut seen, mut todo, mut ends) = (HashSet::new(), vec![first], BTreeSet::new());
        while let Some(state) = todo.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let before = todo.len();
            todo.extend((0..code.len()).filter_map(|t| state.step(&code, t)));
            // One mutex at a time: there is no deadlock.
            if todo.len() == before {
                ends.insert(state.outcome());
            }
        }
        ends
    }

    pub fn c(&self) -> String {
        let mut text = String::from(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <fcntl.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
             int g[3];\natomic_int a[2];\nint results[3][3];\n\
             ",
        );
        text += INITIALISED;
        text += "\n";
        for (t, statements) in self.threads.iter().enumerate() {
            writeln!(text, "void *t{t}(void *x) {{\nint r0 = 0, r1 = 0, r2 = 0;").unwrap();
            c_block(statements, &mut text);
            for r in 0..REGISTERS {
                writeln!(text, "results[{t}][{r}] = r{r};").unwrap();
            }
            text += "return x;\n}\n";
        }
        text += "int main(void) {\npthread_t p[3];\nint fd = open(\"outcomes\", O_WRONLY | O_APPEND | O_CREAT, 0600);\n";
        let n = self.threads.len();
        (0..n).for_each(|t| writeln!(text, "pthread_create(&p[{t}], 0, t{t}, 0);").unwrap());
        (0..n).for_each(|t| writeln!(text, "pthread_join(p[{t}], 0);").unwrap());
        text += "int h = 0;\nfor (int i = 0; i < 3; i++) h = (h * 31 + g[i]) % 251;\n";
        text += "for (int i = 0; i < 2; i++) h = (h * 31 + atomic_load(&a[i])) % 251;\n";
        writeln!(text, "for (int t = 0; t < {n}; t++)").unwrap();
        text + "for (int i = 0; i < 3; i++) h = (h * 31 + results[t][i]) % 251;\nunsigned char b = h;\nsyscall(SYS_write, fd, &b, 1);\nreturn 0;\n}\n"
    }

    /// The same with the threads and mutexes of C11.
    pub fn c11(&self) -> String {
        let text = self.c().replace("#include <pthread.h>", "#include <threads.h>");
        let text = text.replace(INITIALISED, "mtx_t m[2];").replace("pthread_mutex_", "mtx_");
        let text = text.replace("void *t", "int t").replace("return x;", "return 0;");
        let text = text.replace(
            "pthread_t p[3];",
            "thrd_t p[3];\nmtx_init(&m[0], mtx_plain);\nmtx_init(&m[1], mtx_plain);",
        );
        let text = text.replace("pthread_join(", "thrd_join(").replace("pthread_create(&p", "thrd_create(&p");
        (0..3).fold(text, |text, t| text.replace(&format!("0, t{t}, 0"), &format!("t{t}, 0")))
    }

    /// The same with the threads and mutexes of C++.
    pub fn cxx(&self) -> String {
        const MUTEXES: &str = "#define pthread_mutex_lock(m) (m)->lock()\n\
             #define pthread_mutex_trylock(m) (!(m)->try_lock())\n\
             #define pthread_mutex_unlock(m) (m)->unlock()\nstd::mutex m[2];";
        let text = self.c().replace("#include <pthread.h>", "#include <thread>\n#include <mutex>");
        let text = text.replace("#include <stdatomic.h>", "#include <atomic>\nusing namespace std;");
        let text = text.replace(INITIALISED, MUTEXES).replace("pthread_t p[3];", "thread p[3];");
        (0..3).fold(text, |text, t| {
            let text = text.replace(
                &format!("pthread_create(&p[{t}], 0, t{t}, 0)"),
                &format!("p[{t}] = thread(t{t}, nullptr)"),
            );
            text.replace(&format!("pthread_join(p[{t}], 0)"), &format!("p[{t}].join()"))
        })
    }

    pub fn rust(&self) -> String {
        let mut text = String::from(
            "#![allow(static_mut_refs, unused)]\n\
             use std::sync::Mutex;\nuse std::sync::atomic::{AtomicI32, Ordering::*};\n\
             static mut G: [i32; 3] = [0; 3];\nstatic A: [AtomicI32; 2] = [AtomicI32::new(0), AtomicI32::new(0)];\n\
             static mut RESULTS: [[i32; 3]; 3] = [[0; 3]; 3];\n\
             static M: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];\n",
        );
        for (t, statements) in self.threads.iter().enumerate() {
            writeln!(text, "fn t{t}() {{ unsafe {{\nlet (mut r0, mut r1, mut r2) = (0i32, 0i32, 0i32);")
                .unwrap();
            rust_block(statements, &mut text);
            writeln!(text, "RESULTS[{t}] = [r0, r1, r2];\n}} }}").unwrap();
        }
        let n = self.threads.len();
        text += "unsafe extern \"C\" { fn syscall(n: i64, fd: i64, at: *const u8, len: usize) -> i64; }\n";
        text += "fn main() {\nuse std::os::fd::AsRawFd;\n";
        text +=
            "let file = std::fs::File::options().append(true).create(true).open(\"outcomes\").unwrap();\n";
        (0..n).for_each(|t| writeln!(text, "let p{t} = std::thread::spawn(t{t});").unwrap());
        (0..n).for_each(|t| writeln!(text, "p{t}.join().unwrap();").unwrap());
        text += "let mut h = 0i32;\nunsafe {\nfor v in G { h = (h * 31 + v) % 251; }\n";
        text += "for a in &A { h = (h * 31 + a.load(SeqCst)) % 251; }\n";
        writeln!(text, "for r in &RESULTS[..{n}] {{ for v in r {{ h = (h * 31 + v) % 251; }} }}").unwrap();
        text + "syscall(1, file.as_raw_fd().into(), &(h as u8), 1);\n}\nstd::mem::forget(file);\n}\n"
    }
}

fn c_block(statements: &[Statement], text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Load(v, r) => writeln!(text, "r{r} = g[{v}];"),
            Statement::Store(v, k) => writeln!(text, "g[{v}] = {k};"),
            Statement::StoreSum(v, r, k) => writeln!(text, "g[{v}] = r{r} + {k};"),
            Statement::Increment(v) => writeln!(text, "g[{v}]++;"),
            Statement::FetchAdd(a, r) => writeln!(text, "r{r} = atomic_fetch_add(&a[{a}], 1);"),
            Statement::AtomicLoad(a, r) => {
                writeln!(text, "r{r} = atomic_load_explicit(&a[{a}], memory_order_relaxed);")
            }
            Statement::CompareExchange(a, r) => {
                writeln!(
                    text,
                    "{{ int seen = 1; atomic_compare_exchange_strong(&a[{a}], &seen, 5); r{r} = seen; }}"
                )
            }
            Statement::TryLocked(m, inside) => {
                writeln!(text, "if (!pthread_mutex_trylock(&m[{m}])) {{").unwrap();
                c_block(inside, text);
                writeln!(text, "pthread_mutex_unlock(&m[{m}]);\n}}")
            }
            Statement::Locked(m, inside) => {
                writeln!(text, "pthread_mutex_lock(&m[{m}]);").unwrap();
                c_block(inside, text);
                writeln!(text, "pthread_mutex_unlock(&m[{m}]);")
            }
            Statement::IfZero(v, inside) => {
                writeln!(text, "if (!g[{v}]) {{").unwrap();
                c_block(inside, text);
                writeln!(text, "}}")
            }
            Statement::Twice(v, m, inside) => {
                writeln!(text, "if (!g[{v}]) {{\npthread_mutex_lock(&m[{m}]);\nif (!g[{v}]) {{").unwrap();
                c_block(inside, text);
                writeln!(text, "}}\npthread_mutex_unlock(&m[{m}]);\n}}")
            }
        }
        .unwrap();
    }
}

fn rust_block(statements: &[Statement], text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Load(v, r) => writeln!(text, "r{r} = G[{v}];"),
            Statement::Store(v, k) => writeln!(text, "G[{v}] = {k};"),
            Statement::StoreSum(v, r, k) => writeln!(text, "G[{v}] = r{r} + {k};"),
            Statement::Increment(v) => writeln!(text, "G[{v}] += 1;"),
            Statement::FetchAdd(a, r) => writeln!(text, "r{r} = A[{a}].fetch_add(1, SeqCst);"),
            Statement::AtomicLoad(a, r) => writeln!(text, "r{r} = A[{a}].load(Relaxed);"),
            Statement::CompareExchange(a, r) => writeln!(
                text,
                "r{r} = match A[{a}].compare_exchange(1, 5, SeqCst, SeqCst) {{ Ok(v) | Err(v) => v }};"
            ),
            Statement::TryLocked(m, inside) => {
                writeln!(text, "if let Ok(guard) = M[{m}].try_lock() {{").unwrap();
                rust_block(inside, text);
                writeln!(text, "}}")
            }
            Statement::Locked(m, inside) => {
                writeln!(text, "{{ let guard = M[{m}].lock().unwrap();").unwrap();
                rust_block(inside, text);
                writeln!(text, "}}")
            }
            Statement::IfZero(v, inside) => {
                writeln!(text, "if G[{v}] == 0 {{").unwrap();
                rust_block(inside, text);
                writeln!(text, "}}")
            }
            Statement::Twice(v, m, inside) => {
                writeln!(text, "if G[{v}] == 0 {{ let guard = M[{m}].lock().unwrap(); if G[{v}] == 0 {{")
                    .unwrap();
                rust_block(inside, text);
                writeln!(text, "}} }}")
            }
        }
        .unwrap();
    }
}
