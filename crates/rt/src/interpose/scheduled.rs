//! Functions that matter mostly in an explored program: time, sleep, and ways to fail or to end.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use super::access::{Call, is_output};
use super::{Real, channel, clocks, interpose, once, room, thread_slots};
use crate::detect::atomics;
use crate::detect::sync as detect_sync;
use crate::detect::thread::Current;
use crate::explore::{self, sync, threads, time};
use crate::mode::{Mode, mode};
use crate::sys;

pub const SECOND: u64 = 1_000_000_000;

unsafe fn duration(t: *const libc::timespec) -> u64 {
    // SAFETY: null or the program's time.
    unsafe { t.as_ref().map_or(0, sync::nanoseconds) }
}

pub fn spec(nanoseconds: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

fn reads_time(t: Current, pc: usize, time: *const libc::timespec) {
    Call::new(t, pc).reads_one(time);
}

/// The result of a sleep, and the remaining time.
unsafe fn slept(result: Result<(), u64>, rest: *mut libc::timespec) -> c_int {
    let Err(left) = result else { return 0 };
    // SAFETY: null or the program's room.
    if let Some(rest) = unsafe { rest.as_mut() } {
        *rest = spec(left);
    }
    sys::set_errno(libc::EINTR);
    -1
}

interpose! {
    fn sched_yield() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore {
        sync::yields(pc);
        0
    }
    fn thrd_yield(), |t, pc, real| { real() } record as detect, tsvd real, explore { sync::yields(pc) }
    fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int, |t, pc, real| {
        reads_time(t, pc, time);
        real(time, rest)
    } record as detect, tsvd real, explore cancels {
        slept(time::sleep(duration(time), pc), rest)
    }
    fn clock_nanosleep(clock: c_int, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec) -> c_int,
    |t, pc, real| { real(clock, flags, time, rest) } record as detect, tsvd real, explore cancels {
        let wanted = duration(time);
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let most = if absolute { wanted.saturating_sub(time::now(clock)) } else { wanted };
        match time::sleep(most, pc) {
            Ok(()) => 0,
            Err(left) => {
                if !absolute && !rest.is_null() {
                    *rest = spec(left);
                }
                libc::EINTR
            }
        }
    }
    fn usleep(microseconds: u32) -> c_int, |t, pc, real| { real(microseconds) } record as detect, tsvd real, explore cancels {
        slept(time::sleep(microseconds as u64 * 1000, pc), core::ptr::null_mut())
    }
    fn sleep(seconds: u32) -> u32, |t, pc, real| { real(seconds) } record as detect, tsvd real, explore cancels {
        time::sleep(seconds as u64 * SECOND, pc).map_or_else(|left| left.div_ceil(SECOND) as u32, |()| 0)
    }
    fn thrd_sleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int, |t, pc, real| { real(time, rest) } record as detect, tsvd real, explore {
        slept(time::sleep(duration(time), pc), rest)
    }
    fn gettid() -> c_int, |t, pc, real| {
        thread_slots::asked_id(pc);
        real()
    } record as detect, tsvd real, explore { threads::number() }

    fn pthread_exit(result: usize), |t, pc, real| {
        crate::detect::handlers::left(&mut t, 0);
        real(result)
    } record as detect, tsvd real, explore {
        // It unwinds, and ends at the bottom of the thread: see `explore::threads`.
        explore::state().current_thread_mut().result = result;
        if explore::is_running() && explore::state().current == 0 {
            threads::end(result)
        }
        real(result)
    }
    fn thrd_exit(result: c_int), |t, pc, real| { real(result) } record as detect, tsvd real, explore {
        explore::state().current_thread_mut().result = result as usize;
        if explore::is_running() && explore::state().current == 0 {
            threads::end(result as usize)
        }
        real(result)
    }
    fn tss_create(key: *mut u32, destructor: usize) -> c_int, |t, pc, real| { real(key, destructor) } record as detect, tsvd real, explore {
        let r = real(key, destructor);
        if r == 0 {
            sync::key_created(*key, destructor);
        }
        r
    }
    fn pthread_key_create(key: *mut u32, destructor: usize) -> c_int, |t, pc, real| { real(key, destructor) } record as detect, tsvd real, explore {
        let r = real(key, destructor);
        if r == 0 {
            sync::key_created(*key, destructor);
        }
        r
    }
    fn pthread_key_delete(key: u32) -> c_int, |t, pc, real| { real(key) } record as detect, tsvd real, explore {
        if !sync::is_own_key(key) {
            explore::changes_process(pc);
        }
        real(key)
    }

    fn __assert_fail(expression: *const c_char, file: *const c_char, line: u32, function: *const c_char),
    |t, pc, real| { real(expression, file, line, function) } record as detect, tsvd real, explore {
        if explore::is_running() {
            explore::assertion(expression, file, line, function, pc)
        }
        real(expression, file, line, function)
    }

    /// Each thread has its own in the kernel, but there is only the carrier.
    fn sigaltstack(new: *const c_void, old: *mut libc::stack_t) -> c_int, |t, pc, real| { real(new, old) } record as detect, tsvd real, explore {
        let mut s = explore::state();
        let stack = &mut s.current_thread_mut().handler_stack;
        if !old.is_null() {
            let flags = if stack.len == 0 { libc::SS_DISABLE } else { 0 };
            *old = libc::stack_t { ss_sp: stack.low as *mut c_void, ss_flags: flags, ss_size: stack.len };
        }
        if let Some(new) = new.cast::<libc::stack_t>().as_ref() {
            let len = if new.ss_flags & libc::SS_DISABLE != 0 { 0 } else { new.ss_size };
            *stack = explore::faults::HandlerStack { low: new.ss_sp as usize, len };
        }
        0
    }
    fn pthread_sigmask(how: c_int, set: *const u64, old: *mut u64) -> c_int, |t, pc, real| {
        let mut c = Call::new(t, pc);
        c.reads_one(set.cast::<libc::sigset_t>());
        let r = real(how, set, old);
        c.wrote_if(r == 0, old.cast::<libc::sigset_t>());
        r
    } record as detect, tsvd real, explore {
        mask(how, set, old).map_or(libc::EINVAL, |()| 0)
    }
    fn sigprocmask(how: c_int, set: *const u64, old: *mut u64) -> c_int, |t, pc, real| {
        let mut c = Call::new(t, pc);
        c.reads_one(set.cast::<libc::sigset_t>());
        let r = real(how, set, old);
        c.wrote_if(r == 0, old.cast::<libc::sigset_t>());
        r
    } record as detect, tsvd real, explore {
        if mask(how, set, old).is_none() {
            sys::set_errno(libc::EINVAL);
            return -1;
        }
        0
    }
    fn sigsetmask(set: c_int) -> c_int, |t, pc, real| { real(set) } record as detect, tsvd real, explore {
        replaced_mask(libc::SIG_SETMASK, set)
    }
    fn sigblock(set: c_int) -> c_int, |t, pc, real| { real(set) } record as detect, tsvd real, explore {
        replaced_mask(libc::SIG_BLOCK, set)
    }
    fn pause() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore cancels {
        if !explore::is_running() {
            return real();
        }
        explore::signals::pause(None, pc);
        sys::set_errno(libc::EINTR);
        -1
    }
    fn sigsuspend(set: *const u64) -> c_int, |t, pc, real| { real(set) } record as detect, tsvd real, explore cancels {
        if !explore::is_running() {
            return real(set);
        }
        explore::signals::pause(Some(*set), pc);
        sys::set_errno(libc::EINTR);
        -1
    }
    fn sigpending(set: *mut u64) -> c_int, |t, pc, real| {
        let r = real(set);
        Call::new(t, pc).wrote_if(r == 0, set.cast::<libc::sigset_t>());
        r
    } record as detect, tsvd real, explore {
        *set = explore::signals::pending();
        0
    }
    fn flockfile(file: *mut c_void), |t, pc, real| {
        real(file);
        detect_sync::acquire(t, file as usize)
    } record as detect, tsvd real, explore {
        explore::locks::takes_stream(file as usize, is_output(file), pc);
        explore::uninterrupted(1);
        explore::memory::acquired(file as usize);
        real(file)
    }
    fn ftrylockfile(file: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(file);
        if r == 0 {
            detect_sync::acquire(t, file as usize);
        }
        r
    } record as detect, tsvd real, explore {
        let r = real(file);
        if r == 0 {
            explore::uninterrupted(1);
            explore::memory::acquired(file as usize);
        }
        r
    }
    fn funlockfile(file: *mut c_void), |t, pc, real| {
        detect_sync::release(t, file as usize);
        real(file)
    } record as detect, tsvd real, explore {
        explore::memory::released(file as usize);
        real(file);
        explore::uninterrupted(-1)
    }

    /// Rust's std waits with this.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long,
    |t, pc, real| {
        let writing = matches!(number, libc::SYS_write | libc::SYS_writev).then(|| {
            channel::sending(t, a as c_int);
            room::Writing::new(a as c_int, if number == libc::SYS_write { c } else { usize::MAX })
        });
        if matches!(number, libc::SYS_read | libc::SYS_readv) {
            room::making(t, a as c_int);
        }
        match number {
            libc::SYS_close => channel::forget(a as c_int),
            libc::SYS_close_range => channel::forget_from(a as c_uint),
            libc::SYS_dup2 | libc::SYS_dup3 => channel::forget(b as c_int),
            _ => {}
        }
        if number == libc::SYS_futex && hands_over(b) {
            detect_sync::release(t, a);
        }
        let r = real(number, a, b, c, d, e, f);
        if number == libc::SYS_futex && r == -1 && sys::errno() == libc::ETIMEDOUT {
            t.waits_with = 0;
        }
        if number == libc::SYS_futex && r == 0 && let Some(word) = gets(a, b, e) {
            detect_sync::acquire(t, word);
        }
        if number == libc::SYS_membarrier && r == 0 && is_barrier(a) {
            atomics::barrier_of_all(&mut t);
        }
        if let Some(writing) = writing {
            writing.done(t, r >= 0, number == libc::SYS_writev || r == c as c_long);
        }
        if matches!(number, libc::SYS_read | libc::SYS_readv) && r >= 0 {
            channel::received(t, a as c_int);
        }
        r
    } record as detect, tsvd real, explore {
        if number == libc::SYS_gettid {
            return threads::number() as c_long;
        }
        if let Some(r) = clocks::by_number(number, a, b, pc) {
            return r;
        }
        if number == libc::SYS_futex && explore::is_running() {
            let r = sync::futex([a, b, c, d, e, f], pc);
            if r < 0 {
                sys::set_errno(-r as c_int);
                return -1;
            }
            return r as c_long;
        }
        match number {
            libc::SYS_sched_yield => sync::yields(pc),
            libc::SYS_exit_group => explore::exits_at_once(a as c_int, pc),
            libc::SYS_getrandom if c & libc::GRND_INSECURE as usize != 0 => {}
            libc::SYS_getrandom | libc::SYS_getcpu | libc::SYS_sysinfo => explore::asks_for_chance(),
            _ if is_private(number) => {}
            _ => explore::unknown_call(pc),
        }
        let r = real(number, a, b, c, d, e, f);
        if number == libc::SYS_membarrier && r == 0 && is_barrier(a) {
            explore::memory::barrier_of_all();
        }
        if r == 0 && makes_process(number, a) {
            explore::fork::in_child();
        }
        r
    }
}

/// Operations on a futex that has an owner, of which the kernel writes the word. libc lacks some.
const LOCK_PI: usize = 6;
const UNLOCK_PI: usize = 7;
const TRYLOCK_PI: usize = 8;
const WAIT_REQUEUE_PI: usize = 11;
const LOCK_PI2: usize = 13;

/// The operation without its flags.
fn operation(word: usize) -> usize {
    word & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as usize
}

/// True if the command of `membarrier` is a barrier. The others ask or register.
fn is_barrier(command: usize) -> bool {
    // GLOBAL, GLOBAL_EXPEDITED, PRIVATE_EXPEDITED, and the same with SYNC_CORE and RSEQ.
    matches!(command, 1 | 2 | 8 | 32 | 128)
}

/// True if the futex operation makes another thread the owner.
fn hands_over(word: usize) -> bool {
    operation(word) == UNLOCK_PI
}

/// The futex that the thread owns after the operation on `futex`, which may have moved it to
/// `second`.
fn gets(futex: usize, word: usize, second: usize) -> Option<usize> {
    match operation(word) {
        LOCK_PI | TRYLOCK_PI | LOCK_PI2 => Some(futex),
        WAIT_REQUEUE_PI => Some(second),
        _ => None,
    }
}

/// True if the system call makes a process with a copy of this one's memory.
unsafe fn makes_process(number: c_long, argument: usize) -> bool {
    let flags = match number {
        libc::SYS_fork => 0,
        libc::SYS_clone => argument as u64,
        // SAFETY: the caller's description of the child begins with its flags.
        libc::SYS_clone3 => unsafe { *(argument as *const u64) },
        _ => return false,
    };
    flags & libc::CLONE_VM as u64 == 0
}

/// True if no other thread can see what the system call does, and it cannot see what others do.
fn is_private(number: c_long) -> bool {
    matches!(
        number,
        libc::SYS_futex
            | libc::SYS_getpid
            | libc::SYS_getppid
            | libc::SYS_getuid
            | libc::SYS_geteuid
            | libc::SYS_getgid
            | libc::SYS_getegid
            | libc::SYS_clock_getres
            | libc::SYS_sched_yield
            | libc::SYS_membarrier
            | libc::SYS_get_robust_list
            | libc::SYS_uname
    )
}

/// A thread's mask: kept here, and in the kernel too before there are threads.
unsafe fn mask(how: c_int, set: *const u64, old: *mut u64) -> Option<()> {
    // SAFETY: null or the program's sets; their first word contains all signals.
    unsafe {
        let before = explore::signals::change_mask(how, set.as_ref().copied())?;
        if let Some(old) = old.as_mut() {
            *old = before;
        }
    }
    Some(())
}

/// Changes the thread's mask by BSD's word of signals; returns the mask from before.
fn replaced_mask(how: c_int, set: c_int) -> c_int {
    explore::signals::change_mask(how, Some(u64::from(set as u32))).unwrap_or_default() as c_int
}

/// An exception is thrown. Those of Rust are panics.
#[unsafe(export_name = "__interpose__Unwind_RaiseException")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn raise() {
    core::arch::naked_asm!(
        "push rdi",
        "call {note}",
        "pop rdi",
        // As if called by the original caller: the unwinder must not meet this frame.
        "jmp rax",
        note = sym thrown,
    )
}

/// Returns the address of the real function.
extern "C" fn thrown(exception: *const [u8; 8]) -> usize {
    static REAL: Real = Real::new(c"_Unwind_RaiseException", None);
    // Older versions of std store the class as a number, the first letter in its highest byte.
    const RUST: [&[u8; 8]; 2] = [b"MOZ\0RUST", b"TSUR\0ZOM"];
    // SAFETY: an exception begins with its class: vendor and language.
    if explore::is_running() && RUST.contains(&unsafe { &*exception }) {
        explore::panics();
    }
    if explore::is_running() {
        explore::locks::may_leave();
    }
    if matches!(mode(), Mode::Detect | Mode::Record) {
        once::throws();
    }
    REAL.get()
}

type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type Start = unsafe extern "C-unwind" fn(Main, c_int, *mut *mut c_char, usize, usize, usize, usize) -> c_int;
static MAIN: sys::Shared<Option<Main>> = sys::Shared::new(None);

/// A return from main ends the process, so it is a step like any other.
unsafe extern "C-unwind" fn explored_main(
    n: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    // SAFETY: set before.
    let main = unsafe { (*MAIN.get()).map_or(0, |main| main as *const () as usize) };
    explore::main_begins(main, &raw const n as usize);
    explore::before_main();
    // SAFETY: set before; the program's main.
    let status = unsafe { (*MAIN.get()).map_or(0, |main| main(n, arguments, environment)) };
    explore::exits(status, 0);
    status
}

#[unsafe(export_name = "__interpose___libc_start_main")]
unsafe extern "C-unwind" fn start(
    main: Main,
    n: c_int,
    arguments: *mut *mut c_char,
    init: usize,
    fini: usize,
    loader_fini: usize,
    stack_end: usize,
) -> c_int {
    static REAL: Real = Real::new(c"__libc_start_main", None);
    // SAFETY: the C library's function; before there are threads.
    unsafe {
        let real = core::mem::transmute::<usize, Start>(REAL.get());
        if !explore::is_on() {
            return real(main, n, arguments, init, fini, loader_fini, stack_end);
        }
        *MAIN.get() = Some(main);
        real(explored_main, n, arguments, init, fini, loader_fini, stack_end)
    }
}
