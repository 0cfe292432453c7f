//! What each function that can block does instead: a scheduling point, then the real function in a
//! form that does not block.
//!
//! The state of a lock or semaphore is the program's own object, which the real `try` functions
//! change. Condition variables, barriers and futexes have nothing to try: their waiters are told
//! ([`Wait::Told`]), and the object itself does not change.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

use raddle_explore::{Op, OpKind};

use super::peek;
use super::point::{Breaks, WaitEnd, point, wait};
use super::serve::give_up_worker;
use super::{Several, Wait, has, hidden, op, state, states, time};
use crate::interpose::{Real, channel};
use crate::sys;
use raddle_wire::explore::{Cannot, Outside, Status, flag, gap};

type One = unsafe extern "C" fn(usize) -> c_int;

fn call(real: &Real, object: usize) -> c_int {
    // SAFETY: a function of the C library that takes the object.
    unsafe { core::mem::transmute::<usize, One>(real.get())(object) }
}

/// The time on a clock at which a wait ends, or never.
#[derive(Clone, Copy)]
pub struct Until {
    clock: c_int,
    at: Option<u64>,
}

impl Until {
    pub const NEVER: Until = Until { clock: 0, at: None };

    /// SAFETY: null or a time.
    pub unsafe fn new(clock: c_int, at: *const c_void) -> Until {
        // SAFETY: by the caller's contract.
        let at = unsafe { at.cast::<libc::timespec>().as_ref() };
        Until { clock, at: at.map(nanoseconds) }
    }

    /// This many milliseconds from now; negative: never.
    pub fn after_ms(ms: c_int) -> Until {
        Until::after_ns((ms >= 0).then(|| ms as u64 * 1_000_000))
    }

    /// SAFETY: null, for never, or a time.
    pub unsafe fn after(time: *const c_void) -> Until {
        // SAFETY: by the caller's contract.
        Until::after_ns(unsafe { time.cast::<libc::timespec>().as_ref() }.map(nanoseconds))
    }

    /// SAFETY: null, for never, or a `timeval`.
    pub unsafe fn after_us(time: *const c_void) -> Until {
        // SAFETY: by the caller's contract.
        let time = unsafe { time.cast::<libc::timeval>().as_ref() };
        Until::after_ns(time.map(|t| t.tv_sec.max(0) as u64 * 1_000_000_000 + t.tv_usec.max(0) as u64 * 1000))
    }

    fn after_ns(time: Option<u64>) -> Until {
        let clock = libc::CLOCK_MONOTONIC;
        Until { clock, at: time.map(|t| time::shows(clock).saturating_add(t)) }
    }

    /// In virtual time since the start.
    fn due(self) -> Option<u64> {
        self.at.map(|at| at.saturating_sub(time::at_start(self.clock)))
    }

    fn given_up(self) {
        if let Some(at) = self.at {
            time::reach(self.clock, at);
        }
    }
}

pub fn nanoseconds(t: &libc::timespec) -> u64 {
    (t.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec.max(0) as u64)
}

/// Waits until this time at most.
pub(super) fn wait_until(o: Op, what: Wait, until: Until, breaks: Breaks, pc: usize) -> WaitEnd {
    let end = wait(o, what, until.due(), breaks, pc);
    if end == WaitEnd::GaveUp {
        until.given_up();
    }
    end
}

/// Waits. True if it timed out.
fn wait_for(o: Op, what: Wait, until: Until, pc: usize) -> bool {
    if until.at.is_none() {
        point(o, what, pc);
        return false;
    }
    wait_until(o, what, until, Breaks::Nothing, pc) == WaitEnd::GaveUp
}

static MUTEX_TRYLOCK: Real = Real::new(c"pthread_mutex_trylock", None);
static MUTEX_LOCK: Real = Real::new(c"pthread_mutex_lock", None);
static MUTEX_UNLOCK: Real = Real::new(c"pthread_mutex_unlock", None);

pub fn mutex_lock(m: usize, until: Until, pc: usize) -> c_int {
    states::uses_mutex(m);
    let kind = if until.at.is_some() { OpKind::TimedLock } else { OpKind::Lock };
    if wait_for(op(kind, m, pc), Wait::Mutex(m), until, pc) {
        return libc::ETIMEDOUT;
    }
    match call(&MUTEX_TRYLOCK, m) {
        // The thread owns it: the real function returns an error and does not wait.
        libc::EBUSY if peek::is_error_checking(m) || !state().running => call(&MUTEX_LOCK, m),
        r => r,
    }
}

pub fn mutex_trylock(m: usize, pc: usize) -> c_int {
    states::uses_mutex(m);
    point(op(OpKind::TryLock, m, pc), Wait::Nothing, pc);
    call(&MUTEX_TRYLOCK, m)
}

pub fn mutex_unlock(m: usize, pc: usize) -> c_int {
    states::uses_mutex(m);
    point(op(OpKind::Unlock, m, pc), Wait::Nothing, pc);
    call(&MUTEX_UNLOCK, m)
}

pub fn spin_lock(m: usize, pc: usize) -> c_int {
    static TRYLOCK: Real = Real::new(c"pthread_spin_trylock", None);
    point(op(OpKind::Lock, m, pc), Wait::Spin(m), pc);
    call(&TRYLOCK, m)
}

pub fn rwlock(l: usize, write: bool, until: Until, pc: usize) -> c_int {
    static TRY_READ: Real = Real::new(c"pthread_rwlock_tryrdlock", None);
    static TRY_WRITE: Real = Real::new(c"pthread_rwlock_trywrlock", None);
    let (kind, wait, real) = match write {
        true => (OpKind::WriteLock, Wait::WriteLock(l), &TRY_WRITE),
        false => (OpKind::ReadLock, Wait::ReadLock(l), &TRY_READ),
    };
    let queues = write && state().running && peek::prefers_writers(l);
    if queues {
        // Readers see the arrival of a writer before it has the lock: a separate step.
        point(op(OpKind::TryLock, l, pc), Wait::Nothing, pc);
        if call(real, l) == 0 {
            return 0;
        }
        let mut s = state();
        s.current_thread_mut().queues_at = l;
    }
    let gave_up = wait_for(op(kind, l, pc), wait, until, pc);
    if queues {
        let mut s = state();
        s.current_thread_mut().queues_at = 0;
    }
    if gave_up { libc::ETIMEDOUT } else { call(real, l) }
}

/// `pthread_rwlock_tryrdlock`.
pub fn try_read(l: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    step(OpKind::TryLock, l, pc, || if peek::is_writer_queueing(l) { libc::EBUSY } else { real() })
}

/// Makes a step that cannot block, then calls the real function.
pub fn step(kind: OpKind, object: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    point(op(kind, object, pc), Wait::Nothing, pc);
    real()
}

pub fn semaphore_wait(s: usize, until: Until, pc: usize) -> c_int {
    static TRY: Real = Real::new(c"sem_trywait", None);
    match wait_until(op(OpKind::SemWait, s, pc), Wait::Semaphore(s), until, Breaks::Handler, pc) {
        WaitEnd::Over => call(&TRY, s),
        end => {
            sys::set_errno(if end == WaitEnd::GaveUp { libc::ETIMEDOUT } else { libc::EINTR });
            -1
        }
    }
}

static WAITED: AtomicU64 = AtomicU64::new(0);

/// The address of a word that counts the waits of an execution.
pub(super) fn waited_at() -> usize {
    &raw const WAITED as usize
}

/// The running thread begins to wait to be told.
pub(super) fn begin_to_wait(may_wake: bool) {
    let mut s = state();
    let t = s.current_thread_mut();
    t.told = false;
    t.may_wake = may_wake;
    t.since = WAITED.fetch_add(1, Relaxed);
}

fn end_of_wait() {
    let mut s = state();
    s.current_thread_mut().may_wake = false;
}

/// The threads that wait to be told about `object`, longest wait first.
fn waiters(object: usize) -> impl Iterator<Item = usize> {
    let mut from = 0;
    core::iter::from_fn(move || {
        let s = state();
        let waits = |i: &usize| {
            let t = &s.threads[*i];
            let on = matches!(t.wait, Wait::Told(o) | Wait::ToldAndMutex(o, _) if o == object);
            !t.ended && on && !t.told && t.since >= from
        };
        let next = (0..s.count).filter(waits).min_by_key(|i| s.threads[*i].since)?;
        from = s.threads[next].since + 1;
        Some(next)
    })
}

/// Tells up to `n` waiters of `object`. If one of several is told, which one is a choice.
pub(super) fn tell(object: usize, n: usize, pc: usize) -> usize {
    let there = waiters(object).count();
    if n == 1 && there > 1 {
        let which = choose(there, object, pc);
        if let Some(i) = waiters(object).nth(which) {
            state().threads[i].told = true;
        }
        return 1;
    }
    let mut told = [0usize; raddle_explore::MAX_THREADS];
    let mut count = 0;
    for i in waiters(object).take(n) {
        told[count] = i;
        count += 1;
    }
    told[..count].iter().for_each(|i| state().threads[*i].told = true);
    count
}

/// A choice of one of `n` waiters.
fn choose(n: usize, object: usize, pc: usize) -> usize {
    choose_by(n, op(OpKind::Choose, object, pc))
}

/// A choice of one of `n`.
pub(super) fn choose_by(n: usize, o: Op) -> usize {
    let mut s = state();
    if !s.running || n < 2 {
        return 0;
    }
    let order = s.serve.prefix();
    let value = s.pilot.choose_value(order, n as u16);
    let mut trace = s.serve.trace();
    // A full trace is noticed at the next step.
    let _ = s.pilot.record_value(o, n as u16, value, &mut trace);
    s.serve.recorded(&trace);
    states::choosing(&o, n);
    s.serve.note_stack(s.current, s.threads[s.current].pc);
    value as usize
}

pub fn cond_wait(c: usize, m: usize, until: Until, pc: usize) -> c_int {
    if !state().running {
        // There is one thread, and nobody to signal.
        until.given_up();
        return if until.at.is_some() { libc::ETIMEDOUT } else { 0 };
    }
    let both = |kind| op(kind, c, pc).with_other(m as u64);
    point(both(OpKind::CondWait), Wait::Nothing, pc);
    let owned = peek::mutex_owner(m) == state().current_thread_mut().kernel_id;
    state().current_thread_mut().owned = owned;
    call(&MUTEX_UNLOCK, m);
    begin_to_wait(has(flag::SPURIOUS));
    let end = wait_until(both(OpKind::CondWake), Wait::ToldAndMutex(c, m), until, Breaks::Cancel, pc);
    let gave_up = end == WaitEnd::GaveUp;
    let for_nothing = state().current_thread_mut().spurious;
    end_of_wait();
    // A cancelled thread runs its clean-up handlers with the mutex held.
    if end != WaitEnd::Over || for_nothing {
        point(op(OpKind::Lock, m, pc), Wait::Mutex(m), pc);
    }
    if core::mem::take(&mut state().current_thread_mut().owned) {
        call(&MUTEX_TRYLOCK, m);
    }
    if gave_up { libc::ETIMEDOUT } else { 0 }
}

/// The clock of a condition variable's time-outs. Its location differs between versions of glibc,
/// so a sample variable is examined once.
pub fn clock_of(c: usize) -> c_int {
    static AT: AtomicUsize = AtomicUsize::new(0);
    const MONOTONIC: u32 = 2;
    const WORDS: usize = size_of::<libc::pthread_cond_t>() / 4;
    let mut at = AT.load(Relaxed);
    if at == 0 {
        // SAFETY: the C library's functions on fresh objects; they take no lock.
        let sample = unsafe {
            let mut attributes = core::mem::zeroed::<libc::pthread_condattr_t>();
            let mut sample = core::mem::zeroed::<libc::pthread_cond_t>();
            libc::pthread_condattr_init(&mut attributes);
            libc::pthread_condattr_setclock(&mut attributes, libc::CLOCK_MONOTONIC);
            libc::pthread_cond_init(&mut sample, &attributes);
            core::mem::transmute::<libc::pthread_cond_t, [u32; WORDS]>(sample)
        };
        at = sample.iter().position(|w| *w == MONOTONIC).map_or(usize::MAX, |i| i * 4);
        AT.store(at, Relaxed);
        super::found(&AT);
    }
    // SAFETY: inside the program's variable.
    if at != usize::MAX && unsafe { *((c + at) as *const u32) } & MONOTONIC != 0 {
        return libc::CLOCK_MONOTONIC;
    }
    libc::CLOCK_REALTIME
}

pub fn cond_signal(c: usize, all: bool, pc: usize) -> c_int {
    let kind = if all { OpKind::CondBroadcast } else { OpKind::CondSignal };
    point(op(kind, c, pc), Wait::Nothing, pc);
    if state().running {
        tell(c, if all { usize::MAX } else { 1 }, pc);
    }
    0
}

/// A barrier's memory while it is explored.
#[repr(C)]
struct Barrier {
    count: u32,
    arrived: u32,
}

pub unsafe fn barrier_init(b: usize, count: u32) -> c_int {
    if count == 0 {
        return libc::EINVAL;
    }
    // SAFETY: the program's barrier, which is larger.
    unsafe { *(b as *mut Barrier) = Barrier { count, arrived: 0 } };
    0
}

pub unsafe fn barrier_wait(b: usize, pc: usize) -> c_int {
    point(op(OpKind::Barrier, b, pc), Wait::Nothing, pc);
    // SAFETY: as above.
    let barrier = unsafe { &mut *(b as *mut Barrier) };
    barrier.arrived += 1;
    if barrier.arrived >= barrier.count {
        barrier.arrived = 0;
        tell(b, usize::MAX, pc);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    begin_to_wait(false);
    point(op(OpKind::Barrier, b, pc), Wait::Told(b), pc);
    0
}

/// Waits until nobody else runs the initialiser: then the real function does not block.
pub fn initialiser(at: usize, word: usize, bits: u32, pc: usize) {
    point(op(OpKind::Once, at, pc), Wait::Initialiser(word, bits), pc);
}

/// The `futex` system call, as far as threads use it. For the kernel, all logical threads are one:
/// it would take the others for the owner of each other's locks, and wake nobody.
pub unsafe fn futex(args: [usize; 6], pc: usize) -> isize {
    let [word, what, value, timeout, ..] = args;
    const COMMAND: usize = 0x7f;
    match (what & COMMAND) as c_int {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let absolute = what & COMMAND == libc::FUTEX_WAIT_BITSET as usize;
            let real = what & libc::FUTEX_CLOCK_REALTIME as usize != 0;
            let clock = if real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
            // SAFETY: the program's timeout.
            let mut until = unsafe { Until::new(clock, timeout as *const c_void) };
            if !absolute && let Some(at) = until.at {
                until.at = Some(at.saturating_add(time::now(clock)));
            }
            unsafe { futex_wait(word, value as u32, until, pc) }
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            point(op(OpKind::FutexWake, word, pc), Wait::Nothing, pc);
            tell(word, (value as i32).max(0) as usize, pc) as isize
        }
        _ => give_up_worker(Status::Cannot, Cannot::Futex.number()),
    }
}

unsafe fn futex_wait(word: usize, value: u32, until: Until, pc: usize) -> isize {
    point(op(OpKind::FutexWait, word, pc), Wait::Nothing, pc);
    // SAFETY: the program's word.
    if unsafe { (word as *const u32).read_volatile() } != value {
        return -libc::EAGAIN as isize;
    }
    begin_to_wait(has(flag::SPURIOUS));
    let o = op(OpKind::FutexWait, word, pc);
    let end = wait_until(o, Wait::Told(word), until, Breaks::Handler, pc);
    end_of_wait();
    match end {
        WaitEnd::Over => 0,
        WaitEnd::GaveUp => -libc::ETIMEDOUT as isize,
        WaitEnd::Broken => -libc::EINTR as isize,
    }
}

pub fn yields(pc: usize) {
    point(op(OpKind::Yield, 0, pc), Wait::Nothing, pc);
}

/// `pthread_testcancel`: a request may come just before.
pub fn looks_whether_cancelled(pc: usize) {
    let me = state().current;
    point(op(OpKind::Signal, me, pc), Wait::Nothing, pc);
    state().threads[me].cut_short = super::cancel::is_due(me);
}

/// Before a call that may wait for the descriptor. False if the wait is broken off; then `errno` is
/// set.
#[must_use]
pub fn descriptor(fd: c_int, events: i16, pc: usize) -> bool {
    message(fd, events, 0, pc)
}

/// [`descriptor`] with the flags of `recv` and `send`.
#[must_use]
pub fn message(fd: c_int, events: i16, flags: c_int, pc: usize) -> bool {
    if !state().running || fd == 1 || fd == 2 {
        return true;
    }
    super::retry_with_fork(Outside::PipeOrSocket);
    if is_file(fd) {
        uses_file(fd, events == libc::POLLOUT, pc);
        return true;
    }
    let nonblocking = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0])
        & libc::O_NONBLOCK as isize
        != 0;
    let what = if nonblocking || flags & libc::MSG_DONTWAIT != 0 {
        Wait::Nothing
    } else {
        Wait::Descriptor(fd, events)
    };
    let uses = op(OpKind::Io, fd as usize + 1, pc).with_other(channel::channel_of(fd) as u64);
    goes_on(wait(uses, what, None, Breaks::Handler, pc))
}

/// Before a call that may wait for a message queue, whose descriptor looks like a file's. False: it
/// is broken off, and has said so.
#[must_use]
pub fn queue(q: c_int, events: i16, until: Until, pc: usize) -> bool {
    if !state().running {
        return true;
    }
    // Like a file it may outlive the process.
    super::retry_with_fork(Outside::Changes);
    let flags = sys::syscall(libc::SYS_fcntl, [q as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
    let waits = flags & libc::O_NONBLOCK as isize == 0;
    let what = if waits { Wait::Descriptor(q, events) } else { Wait::Nothing };
    // Several descriptors may stand for one queue: related to everything.
    goes_on(wait_until(op(OpKind::Other, q as usize + 1, pc), what, until, Breaks::Handler, pc))
}

/// Waits until somebody has the other end of a FIFO open. False: it is broken off, and has said so.
#[must_use]
pub fn partner(fd: c_int, events: i16, readers: (u32, u32), pc: usize) -> bool {
    if !state().running {
        return true;
    }
    let uses = op(OpKind::Other, fd as usize + 1, pc);
    goes_on(wait(uses, Wait::Partner(fd, events, readers), None, Breaks::Handler, pc))
}

/// True if the descriptor is of a regular file, which a call never waits for.
fn is_file(fd: c_int) -> bool {
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::stat>() };
    let args = [fd as usize, &raw mut told as usize, 0, 0, 0, 0];
    sys::syscall(libc::SYS_fstat, args) == 0 && told.st_mode & libc::S_IFMT == libc::S_IFREG
}

/// Before a call that reads or writes a file. Another descriptor, another stream or a mapping may
/// refer to the same file, so its place among all steps matters.
pub fn uses_file(fd: c_int, writes: bool, pc: usize) {
    if fd == 1 || fd == 2 {
        return;
    }
    if writes {
        super::retry_with_fork(Outside::Changes);
        hidden::note(gap::OUTSIDE);
    }
    let uses = op(OpKind::Other, channel::file_of(fd), pc).with_other(u64::from(writes));
    point(uses, Wait::Nothing, pc);
}

/// Before a call that moves the descriptor's offset, which never waits.
#[must_use]
pub fn moves(fd: c_int, pc: usize) -> bool {
    message(fd, 0, libc::MSG_DONTWAIT, pc)
}

fn goes_on(end: WaitEnd) -> bool {
    if end == WaitEnd::Broken {
        sys::set_errno(libc::EINTR);
    }
    end != WaitEnd::Broken
}

/// Before a call that may wait for one of several descriptors. False if the wait is broken off;
/// then `errno` is set.
#[must_use]
pub fn several(which: Several, waits: bool, until: Until, pc: usize) -> bool {
    if !state().running {
        return true;
    }
    super::retry_with_fork(Outside::PipeOrSocket);
    let what = if waits { Wait::Several(which) } else { Wait::Nothing };
    // Which channels are meant is not known, so the step is dependent on everything.
    goes_on(wait_until(op(OpKind::Other, 0, pc), what, until, Breaks::AnyHandler, pc))
}

pub fn is_one_ready(which: Several) -> bool {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    match which {
        Several::Poll(ep, 0) => is_ready(ep as c_int, libc::POLLIN),
        Several::Poll(fds, n) => {
            sys::syscall(libc::SYS_ppoll, [fds, n, &raw const now as usize, 0, 8, 0]) != 0
        }
        Several::Select(n, sets) => {
            // `select` overwrites its arguments.
            let mut copies = [[0u8; 128]; 3];
            let mut at = [0usize; 3];
            for ((set, copy), at) in sets.iter().zip(&mut copies).zip(&mut at) {
                if *set != 0 {
                    // SAFETY: a set of the program's.
                    *copy = unsafe { *(*set as *const [u8; 128]) };
                    *at = copy.as_mut_ptr() as usize;
                }
            }
            let args = [n as usize, at[0], at[1], at[2], &raw const now as usize, 0];
            sys::syscall(libc::SYS_pselect6, args) != 0
        }
    }
}

pub fn is_ready(fd: c_int, events: i16) -> bool {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let args = [&raw mut poll as usize, 1, &raw const now as usize, 0, 8, 0];
    sys::syscall(libc::SYS_ppoll, args) != 0
}

/// True if the key is one of the last two that the running thread has made. Then nobody else knows
/// it yet: Rust's std makes a second one if the number of the first is 0, and deletes the first.
pub fn is_own_key(key: u32) -> bool {
    state().current_thread().last_keys.contains(&Some(key))
}

/// Destructors of thread-specific values, which the C library would run when a thread ends.
const KEYS: usize = 1024;
static DESTRUCTORS: sys::Shared<[usize; KEYS]> = sys::Shared::new([0; KEYS]);
/// All keys are below this: every thread that ends goes through them.
static MOST_KEYS: AtomicUsize = AtomicUsize::new(0);

pub fn key_created(key: u32, destructor: usize) {
    let mut s = state();
    let last = &mut s.current_thread_mut().last_keys;
    *last = [Some(key), last[0]];
    if (key as usize) < KEYS {
        // SAFETY: one thread runs at a time.
        unsafe { (*DESTRUCTORS.get())[key as usize] = destructor };
        MOST_KEYS.fetch_max(key as usize + 1, Relaxed);
    }
}

pub fn run_thread_destructors() {
    static TLS: Real = Real::new(c"__call_tls_dtors", Some(c"GLIBC_PRIVATE"));
    // SAFETY: the C library's own functions and the program's destructors, in the thread that ends.
    unsafe {
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn()>(TLS.get())();
        for _ in 0..4 {
            let mut any = false;
            for key in 0..MOST_KEYS.load(Relaxed) as u32 {
                let destructor = (*DESTRUCTORS.get())[key as usize];
                if destructor == 0 {
                    continue;
                }
                let value = libc::pthread_getspecific(key);
                if !value.is_null() {
                    libc::pthread_setspecific(key, core::ptr::null());
                    core::mem::transmute::<usize, unsafe extern "C-unwind" fn(*mut c_void)>(destructor)(
                        value,
                    );
                    any = true;
                }
            }
            if !any {
                break;
            }
        }
    }
}

/// Marks the robust mutexes of a thread that ends, as the kernel would. Each is a step: a thread
/// that tries the mutex sees whether its owner is still there.
pub fn abandon_robust_mutexes() {
    const DIED: u32 = 0x4000_0000;
    let current = state().current;
    let me = state().threads[current].kernel_id;
    let head = super::threads::robust_list(current);
    if head.is_null() {
        return;
    }
    // SAFETY: glibc's list of the donor. The first word points to the first mutex, the second is
    // the offset of the lock word; the list is circular.
    unsafe {
        let offset = *head.add(1);
        let mut entry = *head & !1;
        for _ in 0..1000 {
            if entry == head as isize || entry == 0 {
                break;
            }
            let next = *(entry as *const isize) & !1;
            let word = (entry + offset) as *mut u32;
            if *word & 0x3fff_ffff == me {
                // The lock word is the first word of the mutex.
                point(op(OpKind::Unlock, word as usize, 0), Wait::Nothing, 0);
                *word = DIED;
                super::memory::released(word as usize);
            }
            entry = next;
        }
        *head.cast_mut() = head as isize;
    }
}
