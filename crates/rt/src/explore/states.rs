//! Keys of states, for orders that ask for them: what a key contains, and when there is none.
//!
//! [`raddle_explore::strategy::States`] has the search, the theorem, and what a key must contain.
//! This module computes it, before a step at which there is a choice:
//!
//! 1. **Memory.** The words that differ from the snapshot's copy, with their addresses. So the key
//!    does not depend on which pages other executions have written to. The blocks that were
//!    allocated since, without freed ones. Of each thread the words of its stack above the call
//!    that it is in, and its thread-local storage. What lies below a stack pointer, in freed blocks
//!    and beyond the last block, no correct program reads.
//! 2. **Registers.** A thread that is at a point is in a call of the runtime. So caller-saved
//!    registers hold nothing but arguments, vector registers included. [`crate::entry`] has stored
//!    the others, and the arguments of functions that need them after the point.
//! 3. **The runtime's own state**: what each thread waits for and means to do, who was told, who
//!    has ended, and so on. Of waiting times only the order counts. Left out is what nothing but
//!    reports and preferences depends on: `circle` (see the search's rule on yields), how long a
//!    thread that exits has let others go first, counts of steps.
//! 4. **The detectors** of hidden races, data races and of reused addresses.
//!
//! Kernel numbers of threads (in mutexes) and the stack protector's number differ between workers.
//! Replacing them by numbers that agree would merge states in which a variable of the program
//! happens to have such a value. So keys of two processes are never equal: [`salt`] is part of
//! each. Two workers, or a worker and its successor, then expand a state once each.
//!
//! # Eligibility
//! A key is complete only if nothing else decides what the program does next. So everything that is
//! not listed makes states unknowable, for good ([`Unknowable`]):
//! - an interposed function that is neither in [`STEPS`] nor in [`WITHOUT_STEPS`]. `interpose!`
//!   asks by name, so a new function is not listed until somebody adds it here. The only thread may
//!   call any function, as long as it creates no further threads;
//! - a step that is not one of [those](is_listed_step) below;
//! - a thread that yields, a clock that was read, a signal, a thread with a role of its own;
//! - a detector that had to forget something;
//! - executions that do not run in place. Not noticed are system calls by functions that are not
//!   interposed. Those of the C library that change something outside of memory are all interposed,
//!   because restoring memory would not undo them; a program that makes its own by inline assembly
//!   is not explored soundly by any strategy.
//!
//! A function in [`STEPS`] makes scheduling points. All that it needs after one must be in its
//! arguments, in the step, in memory, or in [`Logical`](super::Logical): a local variable of the
//! runtime is not part of the key. A function in [`WITHOUT_STEPS`] makes none, unless an access in
//! it races; then the state is unknowable.

use raddle_base::hash::fnv32;
use raddle_explore::hidden::Live;
use raddle_explore::op::LIBRARY_STATE;
use raddle_explore::state_key::{KeyHash, SetHash, StateKey};
use raddle_explore::{LogicalThread, Op, OpKind, Unknowable};
use raddle_wire::explore::flag;

use super::threads::{Logical, Role};
use super::{Wait, circle, has, heap, peek, serve, state, switch, threads};
use crate::detect::thread::{Thread, current};
use crate::entry::PROBE;
use crate::sys;

/// Functions that make scheduling points, and of which a key contains all that they need
/// afterwards.
const STEPS: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_spin_init",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_spin_destroy",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_init",
    "pthread_rwlock_destroy",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_barrier_destroy",
    "sem_init",
    "sem_wait",
    "sem_trywait",
    "sem_post",
    "sem_destroy",
    "pthread_once",
    "call_once",
    "mtx_init",
    "mtx_lock",
    "mtx_trylock",
    "mtx_unlock",
    "mtx_destroy",
    "cnd_wait",
    "cnd_signal",
    "cnd_broadcast",
    "cnd_destroy",
    "thrd_create",
    "thrd_join",
    "thrd_detach",
    "thrd_exit",
    "pthread_create",
    "pthread_join",
    "pthread_detach",
    "pthread_exit",
    "exit",
    "__cxa_atexit",
    "rand",
    "srand",
    "memcpy",
    "memmove",
    "memset",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
];

/// Functions that make no scheduling point, and whose effects are all in memory or on standard
/// output.
const WITHOUT_STEPS: &[&str] = &[
    "__assert_fail",
    "abort",
    "atoi",
    "atol",
    "bzero",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "fwrite",
    "getenv",
    "memchr",
    "memcmp",
    "printf",
    "__printf_chk",
    "__fprintf_chk",
    "__vprintf_chk",
    "__vfprintf_chk",
    "vprintf",
    "vfprintf",
    "vsnprintf",
    "__vsnprintf_chk",
    "vsprintf",
    "__vsprintf_chk",
    "putc",
    "puts",
    "strchr",
    "strcmp",
    "strcpy",
    "__strcpy_chk",
    "strdup",
    "strlen",
    "strncmp",
    "strncpy",
    "strnlen",
    "strrchr",
    "strstr",
];

/// How a function is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// With a hash of its name.
    Steps(u32),
    WithoutSteps,
    Not,
}

/// How the interposed function is listed; computed when the runtime is built.
pub const fn listed(name: &str) -> Listed {
    if contains(STEPS, name) {
        steps(name)
    } else if contains(WITHOUT_STEPS, name) {
        Listed::WithoutSteps
    } else {
        Listed::Not
    }
}

/// How a function is listed that makes steps.
pub const fn steps(name: &str) -> Listed {
    Listed::Steps(fnv32(name.as_bytes()))
}

const fn contains(list: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < list.len() {
        if is_equal(list[i].as_bytes(), name.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}

/// In place of a function's number of arguments: it is not to be at a point.
const NO_STEP: usize = usize::MAX;

/// Above the number of arguments is the hash of the function's name: a site that calls through a
/// pointer does not tell it.
const FUNCTION: u32 = 24;
const ARITY: usize = PROBE - 1;

/// The running thread calls an interposed function with this many arguments.
#[inline]
pub fn calls(listed: Listed, arity: usize) {
    current().arity = match listed {
        Listed::Steps(name) => arity | (name as usize) << FUNCTION,
        _ => NO_STEP,
    };
    if listed == Listed::Not {
        calls_unlisted();
    }
}

/// A thread that is alone has no choice, so what it does is a function of the state before. If it
/// creates further threads, their states are not known.
#[cold]
fn calls_unlisted() {
    let mut s = state();
    if s.joined + 1 == s.count {
        s.states.called_alone = true;
    } else {
        give_up(Unknowable::Function);
    }
}

/// The running thread locks or unlocks the mutex. What a thread does with robust mutexes when it
/// ends is no step.
#[inline]
pub fn uses_mutex(m: usize) {
    if !peek::is_usual(m) {
        give_up(Unknowable::Function);
    }
}

/// States of this execution are not known, nor those of others.
#[cold]
pub fn give_up(why: Unknowable) {
    let mut s = state();
    if s.running && s.serve.slot().unknowable == 0 {
        s.serve.slot().unknowable = why.number();
    }
}

/// Whether all that such a step depends on is in a key.
fn is_listed_step(step: &Op) -> bool {
    use OpKind::*;
    matches!(
        step.kind(),
        Start
            | Exit
            | Create
            | Join
            | Lock
            | TryLock
            | Unlock
            | ReadLock
            | WriteLock
            | CondWait
            | CondWake
            | CondSignal
            | CondBroadcast
            | SemWait
            | SemPost
            | Barrier
            | Once
            | AtomicLoad
            | AtomicStore
            | AtomicRmw
            | DataRead
            | DataWrite
            | Spurious
            | Free
            | Choose
            | Reset
    ) || step.kind() == Other && step.object == LIBRARY_STATE
}

/// The last keys of this worker, by their lowest bits. A key that is known ends the keys of an
/// execution: the search has them, or asks for them.
const KNOWN: usize = 1 << 16;

/// For the current execution. All zero: none was asked for.
pub struct StateKeys {
    /// Keys are asked for, and the search does not know those that follow.
    asked: bool,
    known: *mut [StateKey; KNOWN],
    /// The only thread has called a function that is not listed.
    called_alone: bool,
}

/// An execution begins.
pub fn begin(asked: bool) {
    let mut s = state();
    if asked && s.states.known.is_null() {
        // Zeros are no keys.
        s.states.known = sys::pages(size_of::<[StateKey; KNOWN]>()).cast();
    }
    (s.states.asked, s.states.called_alone) = (asked, false);
    s.serve.slot().keyed = u64::from(asked);
    const OTHER: u32 = flag::FORK
        | flag::FORK_AT_START
        | flag::C11
        | flag::OUTPUT
        | flag::PLAIN
        | flag::MACHINE_CODE
        | flag::OS_THREADS
        | flag::TRAP_AT_FAILURE;
    if asked && (!has(flag::HIDDEN) || !has(flag::STATES) || has(OTHER) || crate::trace::is_there()) {
        s.serve.slot().unknowable = Unknowable::Mode.number();
    }
}

/// The step that was recorded last is about to be made by `next`, one of several threads if
/// `is_choice`.
#[inline]
pub fn stepping(next: LogicalThread, is_choice: bool) {
    if state().serve.is_keyed() {
        let step = state().pending[next.index()];
        note(step, is_choice, None);
    }
}

/// The running thread is about to take one of `n` values.
pub fn choosing(o: &Op, n: usize) {
    if state().serve.is_keyed() {
        note(*o, true, Some(n));
    }
}

#[cold]
fn note(step: Op, is_choice: bool, values: Option<usize>) {
    let mut s = state();
    if !is_listed_step(&step) {
        give_up(Unknowable::Step);
    }
    if step.yields() {
        give_up(Unknowable::Waits);
    }
    let mut key = StateKey::NONE;
    if is_choice && s.states.asked && s.serve.is_after_prefix() && s.serve.slot().unknowable == 0 {
        key = match compute(values.map(|n| (step, n))) {
            Ok(key) => key.unwrap_or(StateKey::NONE),
            Err(why) => {
                give_up(why);
                StateKey::NONE
            }
        };
        // SAFETY: allocated when the execution began.
        let known = unsafe { &mut (*s.states.known)[key.0[0] as usize % KNOWN] };
        s.states.asked = key.is_known() && *known != key;
        *known = key;
    }
    s.serve.note_key(key);
}

/// The key of the current state. None: memory was written to of which there is no copy yet.
fn compute(choice: Option<(Op, usize)>) -> Result<Option<StateKey>, Unknowable> {
    check()?;
    let mut key = KeyHash::new(0);
    if let Some((o, n)) = choice {
        key.add(state().current as u64 + 1);
        add_op(&o, &mut key);
        key.add(n as u64);
    }
    salt().into_iter().for_each(|word| key.add(word));
    let s = state();
    for word in [s.count, s.joined, s.spurious as usize, s.ending as usize] {
        key.add(word as u64);
    }
    key.add(u64::from(s.serve.main_has_left));
    s.serve.exits.words(s.serve.last_step()).into_iter().for_each(|word| key.add(word));
    key.add(s.serve.panics());
    for i in 0..s.count {
        add_thread(i, &mut key)?;
    }
    let mut all = SetHash::default();
    if !add_memory(&mut all) {
        return Ok(None);
    }
    all.into(&mut key);
    super::hidden::add_state(live(), &mut key)?;
    super::races::add_state(&mut key)?;
    Ok(Some(key.finish()))
}

/// What makes a state unknowable and may have happened at any time.
fn check() -> Result<(), Unknowable> {
    let s = state();
    if s.time.passed != s.serve.time_at_start() || s.time.looks() > 0 {
        return Err(Unknowable::Time);
    }
    if s.arrived != 0 || s.sent != 0 {
        return Err(Unknowable::Signal);
    }
    if s.timers > 0 || s.serve.has_forked || s.serve.maps_file || s.states.called_alone {
        return Err(Unknowable::Function);
    }
    Ok(())
}

fn live() -> impl Iterator<Item = Live> + Clone {
    let s = state();
    (0..s.count).filter(move |i| !s.threads[*i].ended).map(move |i| match has_begun(i) {
        true => Live::Begun(i),
        false => Live::Created(i),
    })
}

/// A thread that has not begun means to make its first step, at no place in the program.
fn has_begun(i: usize) -> bool {
    let s = state();
    i == 0 || s.pending[i].kind() != OpKind::Start
}

fn add_op(o: &Op, key: &mut KeyHash) {
    o.words().into_iter().for_each(|w| key.add(w));
}

/// What the runtime knows of the thread, its registers and its stack.
fn add_thread(i: usize, key: &mut KeyHash) -> Result<(), Unknowable> {
    let s = state();
    let t = &s.threads[i];
    if t.role != Role::Ordinary || t.fault.is_some() || t.handler_stack.len != 0 {
        return Err(Unknowable::Function);
    }
    if t.due.is_some() || t.sleeps_until.is_some() {
        return Err(Unknowable::Time);
    }
    if t.arrived != 0 || t.handled || t.handling != 0 || t.cancelled || t.never_cancelled || t.asynchronous {
        return Err(Unknowable::Signal);
    }
    let flags = [
        t.told,
        t.ended,
        t.detached,
        t.joined,
        t.gives_int,
        t.altered,
        t.may_wake,
        t.spurious,
        t.gives_up,
        t.fenced,
        t.owned,
        t.ends_process,
        t.cut_short,
        t.breaks > super::Breaks::Nothing,
    ];
    key.add(flags.iter().fold(1, |word, flag| word << 1 | u64::from(*flag)));
    for word in [t.function, t.argument, t.result, t.queues_at, t.fills_at, t.quiet as usize] {
        key.add(word as u64);
    }
    key.add(t.joiner.map_or(0, |j| j as u64 + 1));
    key.add(t.mask);
    key.add(t.uninterrupted as u64);
    t.initialisers.iter().for_each(|w| key.add(*w as u64));
    t.name.chunks(8).for_each(|c| key.add(c.iter().fold(0, |w, b| w << 8 | u64::from(*b))));
    t.last_keys.iter().for_each(|k| key.add(k.map_or(0, |k| u64::from(k) + 1)));
    if t.ended {
        return Ok(());
    }
    add_op(&s.pending[i], key);
    add_op(&t.meant, key);
    add_op(&t.recent, key);
    add_wait(t, key);
    key.add(t.pc as u64);
    add_stack(i, t, key)
}

/// What the thread waits for, and its place among those that wait for the same.
fn add_wait(t: &Logical, key: &mut KeyHash) {
    let (kind, at, other) = match t.wait {
        Wait::Nothing => (0, 0, 0),
        Wait::Mutex(m) => (1, m, 0),
        Wait::Spin(m) => (2, m, 0),
        Wait::Word(m) => (3, m, 0),
        Wait::ReadLock(l) => (4, l, 0),
        Wait::WriteLock(l) => (5, l, 0),
        Wait::Semaphore(s) => (6, s, 0),
        Wait::Thread(t) => (7, t, 0),
        Wait::Told(o) => (8, o, 0),
        Wait::ToldAndMutex(o, m) => (9, o, m),
        Wait::Initialiser(word, bits) => (11, word, bits as usize),
        // Their steps are not listed.
        _ => (10, 0, 0),
    };
    [kind, at, other].iter().for_each(|w| key.add(*w as u64));
    if matches!(t.wait, Wait::Told(_) | Wait::ToldAndMutex(..)) && !t.told {
        let s = state();
        let waits =
            |o: &&Logical| !o.ended && !o.told && matches!(o.wait, Wait::Told(_) | Wait::ToldAndMutex(..));
        let before = s.threads[..s.count].iter().filter(waits).filter(|o| o.since < t.since).count();
        key.add(before as u64);
    }
}

/// The thread's registers, and its stack above the call that it is in.
fn add_stack(i: usize, t: &Logical, key: &mut KeyHash) -> Result<(), Unknowable> {
    let s = state();
    let op = s.pending[i];
    let is_bare = t.pc == 0 && matches!(op.kind(), OpKind::Start | OpKind::Exit);
    let float = if i == s.current { switch::float_control() } else { t.context.float_control() };
    key.add(float);
    if is_bare {
        return Ok(());
    }
    let own = threads::own(i);
    if own.arity == NO_STEP {
        return Err(Unknowable::Function);
    }
    let at = own.kept[0];
    let top = if i == 0 { circle::main_top() } else { t.stack_top };
    let lowest = if i == s.current { stack_pointer() } else { t.context.stack() };
    // A call that has come back has left its registers, too; its stack is below.
    if at < lowest || at >= top || !at.is_multiple_of(8) {
        return Err(Unknowable::Stack);
    }
    // Nor are they those of another call, which the function may have made before its point.
    let is_probe = own.arity & PROBE != 0;
    // The C++ library may make the call for the program, which is then said to make it.
    let returns_to = if !is_probe && own.made_for == [own.caller, t.pc] { own.caller } else { t.pc };
    // SAFETY: the thread's own stack, in use.
    if unsafe { *(at as *const usize) } != returns_to || !is_probe && own.caller != returns_to {
        return Err(Unknowable::Stack);
    }
    own.kept[1..].iter().for_each(|w| key.add(*w as u64));
    let arity = match op.kind() {
        // The step says all of it.
        OpKind::AtomicLoad => 0,
        // The variable, the value or where the expected one is, and the new one.
        OpKind::AtomicStore | OpKind::AtomicRmw => 3,
        _ => own.arity & ARITY,
    };
    key.add(own.arity as u64);
    own.arguments[..arity.min(own.arguments.len())].iter().for_each(|w| key.add(*w as u64));
    for flags in [own.ignore_reads, own.ignore_writes, own.ignore_sync] {
        key.add(u64::from(flags));
    }
    // What is above what the snapshot has, is compared with its copy.
    let top = if i == 0 { top.min(s.serve.main_stack()) } else { top };
    key.add(at as u64);
    for word in (at..top).step_by(8) {
        // SAFETY: as above.
        key.add(unsafe { (word as *const u64).read_volatile() });
    }
    Ok(())
}

#[inline(always)]
fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Tells this process from all others: the stack protector's number, which is random, and the
/// process number.
fn salt() -> [u64; 2] {
    let guard: u64;
    // SAFETY: the word of the thread descriptor that holds the number.
    unsafe { core::arch::asm!("mov {}, fs:[0x28]", out(reg) guard, options(nostack, pure, readonly)) };
    [guard, u64::from(sys::pid())]
}

/// Adds the program's memory. False: not all of it is known.
fn add_memory(all: &mut SetHash) -> bool {
    let mut s = state();
    let count = s.count;
    let main = serve::main_stack_in_use();
    let mut add = |at: usize, word: u64| {
        let mut one = KeyHash::new(at as u64);
        one.add(word);
        all.add(one);
    };
    let known = s.snapshot.each_change(count, main, |at, word| {
        if !is_own(at) && !heap::is_freed(at) {
            add(at, word);
        }
    });
    for i in 0..count {
        let (low, high) = heap::since_begin(i);
        for at in (low..high).step_by(8) {
            if !heap::is_freed(at) {
                // SAFETY: the thread's arena, as far as it is used.
                add(at, unsafe { (at as *const u64).read_volatile() });
            }
        }
    }
    known
}

/// True if the address is the runtime's own: its thread-local state, and what changes with every
/// step.
fn is_own(at: usize) -> bool {
    let s = state();
    let within = |low: usize, len: usize| at.wrapping_sub(low) < len;
    let words = [circle::watched_at(), super::sync::waited_at()];
    words.iter().any(|word| within(*word & !7, 8))
        || (0..s.count.max(threads::donors() + 1)).any(|i| within(threads::own_at(i), size_of::<Thread>()))
}
