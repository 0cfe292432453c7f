//! Functions that nobody defines, going by their names.
//!
//! A file that is checked by itself, or a program over a library that is not there, takes its locks
//! by functions of which only the name is known: `g_mutex_lock(&m)`, `SDL_LockMutex(m)`,
//! `EnterCriticalSection(&c)`. To take them for nothing would make a race of every access that they
//! guard. So a name that says so is a lock on its first argument. What kind of lock nobody knows:
//! it may be taken twice, and neither a deadlock nor a leak is reported on a thread that uses one.
//! Names such as `die` and `plat_abort` end the program. Names such as `g_atomic_int_set` and
//! `ATOMIC_LOAD` synchronise with all others on the same object; nobody knows the order that they
//! ask for, so it is the strongest. `smp_mb` is a fence, and what it orders is not known. Both go
//! by closed lists of words: `draw_fence`, `bytes_to_mb` and `save_atomic` say nothing of threads.

use super::handle_room::{HandleRoom, StartArgument, arguments};
use super::lifecycle::{handle, of_handle};
use super::start_result::result_of_success;
use super::sync::Flow;
use super::value::is_unknown;
use super::{Machine, RunEnd};
use crate::ir::{Instr, Program, Scalar};

/// What a name says that a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Ends,
    Lock,
    ReadLock,
    Unlock,
    /// Runs the function that it is given on a thread of its own.
    Starts,
    /// Waits for the end of a thread.
    Joins,
    /// Asks for something that stays the same.
    Asks,
    /// Accesses what its first pointer leads to, atomically.
    Atomic(Atomic),
    /// Orders what comes before it and after it.
    Fence,
}

/// What an atomic operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    Load,
    Store,
    Change,
    /// A change whose result decides who goes on, as in a lock or a count of references.
    Decide,
    /// Takes one away and says whether nothing is left.
    CountDown,
}

/// How the name of a function ends that stands for an unknown one behind a pointer of that name.
pub const BEHIND_A_POINTER: &str = "_behind_a_pointer";

/// What stands for a lock that has no argument.
const NAMELESS: u64 = 8;

/// Words that make a lock's name one of a function about locks.
const ABOUT: &[&str] = &[
    "init", "destroy", "create", "new", "free", "alloc", "delete", "held", "is", "has", "assert", "get",
    "set", "count", "name", "file", "register", "attr", "debug", "print", "dump", "stat", "stats", "mem",
    "memory", "page", "screen", "key", "caps",
];

/// Reads a name.
pub fn named(name: &str) -> Option<Named> {
    let words = words(name);
    if words.last().is_some_and(|w| matches!(w.as_str(), "abort" | "panic" | "fatal" | "die")) {
        return Some(Named::Ends);
    }
    if starts_thread(name) {
        return Some(Named::Starts);
    }
    if joins_thread(&words) {
        return Some(Named::Joins);
    }
    if words.first().is_some_and(|w| matches!(w.as_str(), "is" | "has" | "should" | "can" | "needs" | "use"))
        || words.last().is_some_and(|w| matches!(w.as_str(), "enabled" | "threaded" | "supported"))
    {
        return Some(Named::Asks);
    }
    let lock = lock_of(&words);
    if lock.is_some() {
        return lock;
    }
    if FENCES.contains(&name.to_ascii_lowercase().as_str()) {
        return Some(Named::Fence);
    }
    atomic_of(&words).map(Named::Atomic)
}

/// What a name says of a lock.
fn lock_of(words: &[String]) -> Option<Named> {
    let has = |w: &str| words.iter().any(|x| x == w);
    let any = |list: &[&str]| list.iter().any(|w| has(w));
    if any(ABOUT) {
        return None;
    }
    let object = any(&["lock", "mutex", "spinlock", "semaphore", "rwlock", "srwlock", "critical"]);
    let read_write = any(&["rwlock", "srwlock"]);
    let tries = any(&["try", "trylock", "tryenter"]);
    match () {
        () if any(&["unlock", "wrunlock", "rdunlock", "rwunlock", "spinunlock"]) => Some(Named::Unlock),
        () if object && any(&["release", "leave", "exit", "give", "end"]) => Some(Named::Unlock),
        () if read_write && any(&["done", "drop", "put", "finish"]) => Some(Named::Unlock),
        // Which result means that it has the lock nobody knows; that it has it guards more than it
        // should, not less.
        () if tries && object || has("trylock") => Some(Named::Lock),
        () if any(&["rdlock", "rlock"]) || any(&["read", "reader", "shared", "rd"]) && has("lock") => {
            Some(Named::ReadLock)
        }
        () if read_write_lock_of(words).is_some() => read_write_lock_of(words),
        () if any(&["lock", "wrlock", "wlock"]) => Some(Named::Lock),
        () if object && any(&["acquire", "enter", "take", "obtain", "begin"]) => Some(Named::Lock),
        () => None,
    }
}

/// What a name says of a lock for readers and writers, if it ends with the lock and what it is taken
/// for (`cupsRWLockRead`, `AcquireSRWLockExclusive`). Names that say more may be anything:
/// `rwlock_writer_waiting`, `rwlock_prefer_write`.
fn read_write_lock_of(words: &[String]) -> Option<Named> {
    let [before @ .., lock, mode] = words else { return None };
    let says_more = ["downgrade", "upgrade", "prefer", "wait", "waiting", "waiters", "owner", "priority"];
    if !matches!(&**lock, "rwlock" | "srwlock") || before.iter().any(|w| says_more.contains(&&**w)) {
        return None;
    }
    match &**mode {
        "read" | "shared" => Some(Named::ReadLock),
        "write" | "exclusive" => Some(Named::Lock),
        _ => None,
    }
}

/// Fences without arguments, in small letters.
const FENCES: &[&str] = &[
    "mb",
    "rmb",
    "wmb",
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "cmm_mb",
    "cmm_rmb",
    "cmm_wmb",
    "cmm_smp_mb",
    "cmm_smp_rmb",
    "cmm_smp_wmb",
    "memory_barrier",
    "memorybarrier",
    "osmemorybarrier",
    "sdl_memorybarrieracquire",
    "sdl_memorybarrierrelease",
    "atomic_thread_fence",
];

/// Words after `atomic` that say nothing of the operation: types and orders.
const OF_ATOMICS: &[&str] = &[
    "", "int", "uint", "long", "ulong", "size", "ptr", "pointer", "bool", "char", "i", "u", "explicit",
    "relaxed", "acquire", "release", "acq", "rel", "seq", "cst", "barrier", "full", "return", "n", "val",
    "value",
];

/// `uatomic_read`, `OSAtomicIncrement32`, `InterlockedExchange`; but not `sig_atomic_name`, which
/// is about a type, nor `atomic_write_file` and `GC_malloc_atomic`: each word behind the one that
/// says it must be one of atomic operations.
fn atomic_of(words: &[String]) -> Option<Atomic> {
    const DECIDES: &[&str] = &[
        "cas",
        "cmpxchg",
        "compare",
        "cmp",
        "exchange",
        "xchg",
        "swap",
        "test",
        "dec",
        "decrement",
        "sub",
        "subtract",
        "unref",
    ];
    const CHANGES: &[&str] = &["add", "inc", "increment", "fetch", "xor"];
    const LOADS: &[&str] = &["get", "load", "read"];
    const STORES: &[&str] = &["set", "store", "write"];
    const JOINS_WORDS: &[&str] = &["and", "or"];
    let words: Vec<&str> = words.iter().map(|w| w.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    let at = words.iter().position(|w| w.ends_with("atomic") || *w == "interlocked")?;
    let after = &words[at + 1..];
    let any = |list: &[&str]| after.iter().any(|w| list.contains(w));
    let lists = [DECIDES, CHANGES, LOADS, STORES, JOINS_WORDS, OF_ATOMICS];
    let is_known = |w: &&str| lists.iter().any(|list| list.contains(w));
    if words[0] == "sig" || !after.iter().all(is_known) {
        return None;
    }
    match () {
        () if any(&["dec", "decrement"]) && any(&["test"]) => Some(Atomic::CountDown),
        () if any(DECIDES) || any(LOADS) && any(STORES) => Some(Atomic::Decide),
        () if any(CHANGES) => Some(Atomic::Change),
        () if any(LOADS) => Some(Atomic::Load),
        () if any(STORES) => Some(Atomic::Store),
        () if any(JOINS_WORDS) => Some(Atomic::Change),
        () => None,
    }
}

/// Whether a name says that a function starts a thread.
pub fn starts_thread(name: &str) -> bool {
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    let thread = any(&["thread", "threads", "kthread", "pthread"]);
    let starts = any(&["create", "start", "new", "spawn", "launch", "run", "begin"]);
    let about = any(&["attr", "key", "pool", "once", "id", "name", "local", "mutex", "lock", "cond"]);
    thread && starts && !about
}

/// Whether a name says that a function waits for the end of a thread: `vcos_thread_join`,
/// `JoinThread`.
fn joins_thread(words: &[String]) -> bool {
    const OTHER: &[&str] = &[
        "can",
        "is",
        "should",
        "joinable",
        "try",
        "tryjoin",
        "timed",
        "timedjoin",
        "timeout",
        "until",
        "within",
        "later",
        "request",
        "requested",
        "async",
        "nowait",
        "nonblocking",
        "name",
        "names",
        "id",
        "ids",
        "set",
        "group",
        "cluster",
        "channel",
        "room",
        "path",
        "string",
        "strings",
    ];
    let any = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    // `join_for(thread, seconds)`, but not `wait_for_thread_join`.
    let is_other = any(OTHER) || words.windows(2).any(|w| w[0] == "join" && w[1] == "for");
    any(&["join"]) && any(&["thread", "threads", "pthread", "thrd", "worker", "workers"]) && !is_other
}

/// Whether a function that is handed a callback keeps it for the end of something.
pub fn keeps_for_the_end(name: &str) -> bool {
    const END: &[&str] = &[
        "exit",
        "atexit",
        "cleanup",
        "destroy",
        "destructor",
        "dtor",
        "free",
        "finalize",
        "finalizer",
        "close",
        "fini",
        "atfork",
        "remove",
        "unregister",
        "unset",
        "cancel",
        "release",
        "delete",
        "del",
    ];
    words(name).iter().any(|w| END.contains(&w.as_str()))
}

/// Whether a function that is handed a callback keeps it for later, when any thread may call it.
fn keeps_for_later(name: &str) -> bool {
    const LATER: &[&str] = &[
        "init",
        "set",
        "register",
        "add",
        "new",
        "create",
        "assign",
        "schedule",
        "defer",
        "deferred",
        "post",
        "queue",
        "enqueue",
        "submit",
        "install",
        "subscribe",
        "connect",
    ];
    /// Words of functions that call it for each of many things, before they return.
    const AT_ONCE: &[&str] = &[
        "foreach", "each", "for", "walk", "iterate", "iter", "visit", "traverse", "map", "find", "search",
        "sort", "scan", "parse", "read", "apply", "filter", "drain", "process", "do", "call", "run",
    ];
    let words = words(name);
    let has = |w: Option<&String>| w.is_some_and(|w| LATER.contains(&w.as_str()));
    // In the middle it is rather a noun.
    let says_later = has(words.first()) || has(words.last());
    says_later && !words.iter().any(|w| AT_ONCE.contains(&w.as_str()))
}

/// The words of a name, by underscores and capital letters.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        let begins = before == '_' || c.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if c != '_' {
            if begins {
                out.push(String::new());
            }
            if let Some(word) = out.last_mut() {
                word.push(c.to_ascii_lowercase());
            }
        }
        before = c;
    }
    out
}

/// Whether a function of GLib makes an object and ends the program if there is no memory for it.
pub fn never_returns_null(name: &str) -> bool {
    const MADE: &[&str] = &[
        "async_queue",
        "queue",
        "hash_table",
        "array",
        "ptr_array",
        "byte_array",
        "string",
        "main_loop",
        "main_context",
        "mutex",
        "cond",
        "timer",
        "tree",
    ];
    let Some((what, how)) = name.strip_prefix("g_").and_then(|rest| rest.split_once("_new")) else {
        return false;
    };
    let what = what.strip_suffix("_sized").unwrap_or(what);
    MADE.contains(&what) && (how.is_empty() || how.starts_with('_') && !how.contains("from"))
}

impl Machine<'_> {
    /// Calls a function that is known by its name, with `n` arguments on the stack. False ends the
    /// thread's turn.
    pub(super) fn call_named(&mut self, ti: usize, what: Named, n: usize, pc: u32) -> bool {
        match what {
            Named::Atomic(what) => return self.atomic_by_name(ti, what, n, pc),
            Named::Fence => return self.fence_by_name(ti, n, pc),
            _ => {}
        }
        let at = self.threads[ti].stack.len() - n;
        // `lock(mode, m)`: a number is a lock only if nothing else is.
        let is_place = |a: &&u64| is_unknown(**a) || **a >= u64::from(Program::GLOBALS_BASE);
        let arguments = &self.threads[ti].stack[at..];
        let place = arguments.iter().find(is_place);
        let lock = place.or(arguments.first()).copied().unwrap_or(NAMELESS);
        if place.is_none()
            && let Some(f) = self.called_behind_pointer(pc)
        {
            // Which lock it is hangs on the pointer. It may be one of the callers'.
            self.released_callers |= ti == 0 && what == Named::Unlock;
            self.call_unknown(ti, n, u64::from(f), pc);
            return true;
        }
        if what == Named::Starts {
            return self.start_by_name(ti, n, pc);
        }
        if what == Named::Joins {
            return self.join_by_name(ti, n, pc);
        }
        if what == Named::Asks {
            return self.ask(ti, n, pc);
        }
        if what == Named::Ends {
            self.end = Some(RunEnd::Finished);
            return false;
        }
        self.threads[ti].vague = true;
        let object = self.objects.entry(lock).or_default();
        (object.recursive, object.checked) = (true, true);
        let flow = match what {
            Named::ReadLock => self.read_lock(ti, lock, false, pc),
            Named::Unlock => self.rw_unlock(ti, lock, pc),
            _ => self.lock(ti, lock, false, pc),
        };
        match flow {
            Flow::Block(state) => {
                let t = &mut self.threads[ti];
                t.state = state;
                t.pc = pc;
                false
            }
            _ => {
                self.threads[ti].stack.truncate(at);
                let v = self.fresh_unknown();
                self.push(ti, v);
                !self.switch_at_sync()
            }
        }
    }

    /// An atomic operation on what the first pointer among the arguments leads to. Without one, the
    /// function is any unknown one.
    fn atomic_by_name(&mut self, ti: usize, what: Atomic, n: usize, pc: u32) -> bool {
        let at = self.threads[ti].stack.len() - n;
        let arguments = &self.threads[ti].stack[at..];
        let is_object =
            |a: &u64| !is_unknown(*a) && self.memory.index(*a, 1).is_ok() && !self.is_constant(*a);
        let Some(i) = arguments.iter().position(is_object) else {
            self.call_unknown(ti, n, u64::from(pc), pc);
            return true;
        };
        let object = arguments[i];
        // A number; the variables of macros are there by their addresses.
        let is_number = |a: &u64| is_unknown(*a) || *a < u64::from(Program::GLOBALS_BASE);
        let stored = arguments.last().copied().filter(|a| i == 0 && n == 2 && is_number(a));
        self.threads[ti].stack.truncate(at);
        self.synchronise(ti, object, what);
        let scalar = self.scalar_behind(object);
        let place = self.memory.index(object, u64::from(scalar.size())).ok();
        let mut result = self.fresh_unknown();
        match (what, stored, place) {
            (Atomic::Load, _, Some(place)) => result = self.load_from(ti, place, scalar),
            (Atomic::Store, Some(value), Some(place)) => self.memory.store(place, scalar, value),
            (Atomic::CountDown, _, Some(place)) if !is_unknown(self.memory.load(place, scalar)) => {
                let left = self.memory.load(place, scalar).wrapping_sub(1);
                self.memory.store(place, scalar, left);
                result = u64::from(left == 0);
            }
            _ => self.forget_scalar(object),
        }
        // Who goes on was decided by what other threads have done: a lock is made of such.
        let is_used = !matches!(self.program.code.get(pc as usize + 1), Some(Instr::Drop));
        if is_used && (what == Atomic::Decide || what == Atomic::CountDown && is_unknown(result)) {
            self.assembly(ti, pc);
        }
        self.approximate = true;
        self.push(ti, result);
        !self.switch_at_sync()
    }

    /// Goes on as after assembly, if the call is like that of a fence.
    fn fence_by_name(&mut self, ti: usize, n: usize, pc: u32) -> bool {
        let is_used = !matches!(self.program.code.get(pc as usize + 1), Some(Instr::Drop));
        if n > 0 || is_used {
            self.call_unknown(ti, n, u64::from(pc), pc);
            return true;
        }
        self.assembly(ti, pc);
        self.approximate = true;
        let v = self.fresh_unknown();
        self.push(ti, v);
        !self.switch_at_sync()
    }

    /// The function that stands for one behind an unknown pointer, if the call at `pc` is of such.
    fn called_behind_pointer(&self, pc: u32) -> Option<u32> {
        let Instr::Call(f, _) = self.program.code.get(pc as usize)? else { return None };
        self.program.functions[*f as usize].name.ends_with(BEHIND_A_POINTER).then_some(*f)
    }
}

impl Machine<'_> {
    /// The first argument that is a function of the program's own, and its place.
    fn function_argument(&self, ti: usize, n: usize) -> Option<(usize, u64)> {
        let stack = &self.threads[ti].stack;
        let args = &stack[stack.len() - n..];
        args.iter().copied().enumerate().find(|(_, a)| self.is_own_function(*a))
    }

    fn is_own_function(&self, address: u64) -> bool {
        let f = self.program.function_at(address).map(|f| &self.program.functions[f as usize]);
        f.is_some_and(|f| f.defined && !f.builtin)
    }

    /// A function that starts threads gets one of its own; what comes after it among the arguments
    /// is its argument. `start(&id, work, data)` and `start("name", &id, 0, work, data)` leave the
    /// handle behind the address of a variable and return 0, as `pthread_create` does; any other
    /// shape returns the handle; unless the caller takes that for a failed start, see
    /// [`super::start_result`].
    fn start_by_name(&mut self, ti: usize, n: usize, pc: u32) -> bool {
        let at = self.threads[ti].stack.len() - n;
        let found = self.function_argument(ti, n);
        let next = found.and_then(|(i, _)| self.threads[ti].stack[at..].get(i + 1).copied());
        let Some((place, f)) = found else {
            self.call_unknown(ti, n, NAMELESS, pc);
            return true;
        };
        let argument = next.unwrap_or_else(|| self.fresh_unknown());
        let before = &self.threads[ti].stack[at..at + place];
        let kinds = arguments(&self.program.code[..pc as usize], n);
        let kind = |i: usize| kinds.get(i).copied().unwrap_or(StartArgument::Other);
        let room = |(i, argument): (usize, &u64)| self.room_for_handle(ti, *argument, kind(i));
        let id = before.iter().enumerate().find_map(room);
        let given: Vec<u64> = before.iter().copied().filter(|a| self.may_identify_thread(*a)).collect();
        let handle = match self.start(ti, f, argument, pc, (0, 1)) {
            Flow::Done(handle) => handle,
            _ => 0,
        };
        if let Some(HandleRoom::Known(id)) = id {
            self.memory.store(id, Scalar::U64, handle);
        }
        if let Some(new) = of_handle(handle).filter(|_| !is_unknown(handle)) {
            self.threads[new].known_by = given;
        }
        self.threads[ti].stack.truncate(at);
        let by_shape = if id.is_none() { handle } else { 0 };
        let result = result_of_success(self.program, &self.doom, pc, handle).unwrap_or(by_shape);
        self.push(ti, result);
        self.approximate = true;
        false
    }

    /// Whether an argument of a start can be what the thread is joined by: the address of an object
    /// that the program may change, known or unknown. A text is the thread's name.
    fn may_identify_thread(&self, argument: u64) -> bool {
        is_unknown(argument) || self.memory.index(argument, 1).is_ok() && !self.is_constant(argument)
    }

    /// Waits for the thread that the arguments tell: its handle, the address of its handle, or what
    /// only its start was given. If they are unknown, it is any thread, as in [`Self::join`].
    fn join_by_name(&mut self, ti: usize, n: usize, pc: u32) -> bool {
        let at = self.threads[ti].stack.len() - n;
        let flow = match self.handle_among(&self.threads[ti].stack[at..]) {
            Some(handle) => self.join(ti, handle),
            None => Flow::Done(0),
        };
        self.approximate = true;
        if let Flow::Block(state) = flow {
            let t = &mut self.threads[ti];
            (t.state, t.pc) = (state, pc);
            return false;
        }
        self.threads[ti].stack.truncate(at);
        let v = self.fresh_unknown();
        self.push(ti, v);
        !self.switch_at_sync()
    }

    /// The handle that the arguments of a join stand for, or an unknown one. A handle says more
    /// than what leads to one, and that says more than what a start was given: `join(runtime,
    /// thread)`. `None` if they lead to two threads: which one is joined nobody knows.
    fn handle_among(&self, arguments: &[u64]) -> Option<u64> {
        let is_thread = |h: &u64| of_handle(*h).is_some_and(|t| t > 0 && t < self.threads.len());
        let behind = |a: &u64| {
            let at = self.memory.index(*a, u64::from(Scalar::U64.size())).ok();
            at.filter(|_| !is_unknown(*a)).map(|at| self.memory.load(at, Scalar::U64))
        };
        let started_with = |a: &u64| -> Vec<u64> {
            let is_it = |i: &usize| !self.threads[*i].joined && self.threads[*i].known_by.contains(a);
            (0..self.threads.len()).filter(is_it).map(handle).collect()
        };
        let own: Vec<u64> = arguments.iter().copied().filter(is_thread).collect();
        let led_to = || arguments.iter().filter_map(behind).filter(is_thread).collect::<Vec<u64>>();
        let by_start = || arguments.iter().flat_map(started_with).collect::<Vec<u64>>();
        let found = [own].into_iter().chain([led_to(), by_start()]).find(|found| !found.is_empty());
        if let Some(found) = found {
            return found.iter().all(|h| *h == found[0]).then(|| found[0]);
        }
        // An address that leads to something known is that of no thread.
        let unknown = arguments.iter().copied().chain(arguments.iter().filter_map(behind));
        unknown.into_iter().find(|v| is_unknown(*v))
    }

    /// The same question gets the same answer, until something unknown must have changed.
    fn ask(&mut self, ti: usize, n: usize, pc: u32) -> bool {
        let at = self.threads[ti].stack.len() - n;
        let args = self.threads[ti].stack.split_off(at);
        let f = match self.program.code.get(pc as usize) {
            Some(Instr::Call(f, _)) => u64::from(*f),
            _ => u64::from(pc),
        };
        let question = args.iter().fold(f, |q, a| u64::from(super::value::mix(402, q, *a)));
        self.push(ti, super::value::unknown(super::value::mix(403, question, f)));
        true
    }

    /// A function that nobody defines may call back what it is given: here and now, if nothing is
    /// held that a later call would not find held. True if a call was begun; its result is dropped.
    pub(super) fn call_back_argument(&mut self, ti: usize, n: usize, callee: u32, pc: u32) -> bool {
        let Some((_, f)) = self.function_argument(ti, n) else { return false };
        let t = &self.threads[ti];
        if !t.held.is_empty() || t.interrupts.is_some() || t.vague {
            return false;
        }
        let again = t.called_back.contains(&pc) || t.called_back.len() > MOST_CALLBACKS;
        let name = &self.program.functions[callee as usize].name;
        // Who calls it later may be none of the threads that hand it over.
        let is_elsewhere = self.threads.len() > 1 && keeps_for_later(name);
        let is_called = !again && !is_elsewhere && !keeps_for_the_end(name);
        let Some(f) = self.program.function_at(f).filter(|_| is_called) else {
            return false;
        };
        self.threads[ti].called_back.push(pc);
        self.approximate = true;
        let params = self.program.functions[f as usize].params as usize;
        let args: Vec<u64> = (0..params).map(|_| self.fresh_unknown()).collect();
        // The call that is made again takes the address of the called function from the stack.
        let is_by_pointer = matches!(self.program.code.get(pc as usize), Some(Instr::CallPtr(_)));
        if is_by_pointer {
            self.push(ti, Program::function_address(callee));
        }
        let is_begun = self.call_back(ti, f, &args, pc);
        if is_by_pointer && !is_begun {
            self.threads[ti].pop();
        }
        is_begun
    }
}

/// Callbacks that a thread makes in one run.
pub(super) const MOST_CALLBACKS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_joins() {
        for name in ["vcos_thread_join", "JoinThread", "my_pthread_join", "join_workers", "thrd_join_all"] {
            assert_eq!(named(name), Some(Named::Joins), "{name}");
        }
        for name in [
            "join_path",
            "thread_set_joinable",
            "is_thread_joined",
            "try_join_thread",
            "worker_join_group",
            "thread_join_timeout",
            "thread_join_for",
            "thread_request_join",
            "thread_join_later",
            "thread_join_async",
            "join_thread_names",
            "join_worker_ids",
        ] {
            assert_ne!(named(name), Some(Named::Joins), "{name}");
        }
    }

    #[test]
    fn names_of_locks() {
        for (name, what) in [
            ("g_mutex_lock", Named::Lock),
            ("SDL_LockMutex", Named::Lock),
            ("EnterCriticalSection", Named::Lock),
            ("mutex_acquire", Named::Lock),
            ("xSemaphoreTake", Named::Lock),
            ("uv_rwlock_wrlock", Named::Lock),
            ("rcu_read_lock", Named::ReadLock),
            ("pool_rdlock", Named::ReadLock),
            ("cupsRWLockRead", Named::ReadLock),
            ("cupsRWLockWrite", Named::Lock),
            ("cupsRWUnlock", Named::Unlock),
            ("AcquireSRWLockExclusive", Named::Lock),
            ("AcquireSRWLockShared", Named::ReadLock),
            ("ReleaseSRWLockExclusive", Named::Unlock),
            ("ReleaseSRWLockShared", Named::Unlock),
            ("db_rwlock_write", Named::Lock),
            ("db_rwlock_write_done", Named::Unlock),
            ("rwlock_drop_write", Named::Unlock),
            ("g_mutex_trylock", Named::Lock),
            ("spin_try_lock", Named::Lock),
            ("SDL_UnlockMutex", Named::Unlock),
            ("leave_critical", Named::Unlock),
            ("mutex_release", Named::Unlock),
            ("read_unlock", Named::Unlock),
        ] {
            assert_eq!(named(name), Some(what), "{name}");
        }
    }

    #[test]
    fn names_that_only_sound_like_it() {
        for name in [
            "clock",
            "get_clock",
            "block",
            "unblock",
            "mutex_init",
            "lock_is_held",
            "flock_open",
            "",
            "x",
            "enter",
            "mlock",
            "lock_file",
            "take_photo",
            "deadlock",
            "rwlock",
            "rwlock_init_write",
            "rwlock_writer_waiting",
            "rwlock_write_waiters",
            "rwlock_write_owner",
            "rwlock_prefer_writer",
            "prefer_rwlock_write",
            "rwlock_downgrade_write",
            "rwlock_write_to_read",
            "setlock_name",
            "LockMemory",
            "\u{e9}",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn names_of_atomic_operations() {
        for (name, what) in [
            ("g_atomic_int_get", Atomic::Load),
            ("ATOMIC_LOAD", Atomic::Load),
            ("SDL_AtomicGet", Atomic::Load),
            ("uatomic_read", Atomic::Load),
            ("g_atomic_int_set", Atomic::Store),
            ("apr_atomic_set32", Atomic::Store),
            ("InterlockedIncrement", Atomic::Change),
            ("OSAtomicIncrement32", Atomic::Change),
            ("uatomic_or", Atomic::Change),
            ("g_atomic_int_dec_and_test", Atomic::CountDown),
            ("InterlockedCompareExchange", Atomic::Decide),
        ] {
            assert_eq!(named(name), Some(Named::Atomic(what)), "{name}");
        }
        for name in ["smp_mb", "MemoryBarrier", "cmm_smp_wmb"] {
            assert_eq!(named(name), Some(Named::Fence), "{name}");
        }
        for name in [
            "anatomical",
            "sig_atomic_name",
            "barrier_of_sound",
            "fence_off",
            "mb_strlen",
            "bytes_to_mb",
            "draw_fence",
            "verbose_barrier",
            "GC_malloc_atomic",
            "save_atomic",
            "write_file_atomic",
            "atomic_write_file",
            "atomic",
            "atomic_int",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
        assert_eq!(named("atomic_spin_lock"), Some(Named::Lock));
        assert_eq!(named("AtomicUnlock"), Some(Named::Unlock));
    }

    #[test]
    fn names_that_end_a_program() {
        for name in ["abort", "die", "nni_plat_abort", "_serverPanic", "log_fatal", "doAbort"] {
            assert_eq!(named(name), Some(Named::Ends), "{name}");
        }
        for name in ["abort_connection", "indie", "panicked", "nonfatal"] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
