//! What a signal handler may not do, as ThreadSanitizer reports it: allocate or free memory, since
//! it may have interrupted the allocator; leave another `errno` behind, since it may have
//! interrupted code that is about to read its own.
//!
//! Handlers of signals that a thread brings upon itself (faults, SIGABRT, SIGPIPE) interrupt
//! nothing by surprise, and are left alone. So is `errno` where the thread has sent itself the
//! signal, and for SIGTERM, whose handlers often end the process. Handlers of libraries that are
//! not instrumented are not judged.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};

use super::misuse::is_watched;
use super::thread::{Current, Thread};
use super::{depot, report};
use crate::hub::{log, modules};
use crate::mode::{Mode, mode};
use crate::sys::{errno, set_errno};
use raddle_wire::record::{Record, misuse};

/// What `errno` is while a handler has not touched it: no error has this number.
const UNTOUCHED: c_int = 1 << 20;

/// The handlers that run on a thread, one within the other. Zero is none. Atomic, because a handler
/// changes what a call that it interrupts has a reference to.
#[repr(C)]
pub struct Handlers {
    running: AtomicU32,
    /// The signal that the thread is sending to itself at this moment; 0: none.
    own: AtomicI32,
    /// `errno` before the outermost of them.
    errno: AtomicI32,
    /// The innermost of them, and how high the shadow call stack was before it.
    handler: AtomicUsize,
    sp: AtomicUsize,
    /// What annotations had the thread ignore before the outermost of them.
    ignored: [AtomicU32; 3],
}

/// One handler that was called. Nothing to drop: an exception or a jump may leave it.
#[derive(Clone, Copy)]
pub struct Running {
    handler: usize,
    /// What ran before it: how many, the innermost, and that one's height.
    outer: (u32, usize, usize),
    /// `errno` before it, if that is watched.
    errno: Option<c_int>,
    ignored: [u32; 3],
}

/// What annotations have the thread ignore: reads, writes, synchronisation. They speak of the code
/// between them, and not of a handler that happens to interrupt it.
fn ignored(t: &Thread) -> [u32; 3] {
    [t.ignore_reads, t.ignore_writes, t.ignore_sync]
}

fn ignore(t: &mut Thread, what: [u32; 3]) {
    [t.ignore_reads, t.ignore_writes, t.ignore_sync] = what;
    t.set_ignores();
}

fn is_synchronous(signal: c_int) -> bool {
    matches!(
        signal,
        libc::SIGSEGV
            | libc::SIGBUS
            | libc::SIGILL
            | libc::SIGTRAP
            | libc::SIGFPE
            | libc::SIGABRT
            | libc::SIGPIPE
            | libc::SIGSYS
    )
}

/// Before the program's handler is called. None: it is not watched.
pub fn begin(t: &mut Thread, signal: c_int, handler: usize) -> Option<Running> {
    let judged =
        mode() == Mode::Detect && is_watched(t) && modules::is_instrumented(crate::relocated::copy(handler));
    if !judged || is_synchronous(signal) || t.inside > 0 {
        return None;
    }
    let (h, before, ignored) = (&t.handlers, errno(), ignored(t));
    let outer = (h.running.load(Relaxed), h.handler.load(Relaxed), h.sp.load(Relaxed));
    if outer.0 == 0 {
        h.errno.store(before, Relaxed);
        h.ignored.iter().zip(ignored).for_each(|(to, n)| to.store(n, Relaxed));
    }
    h.running.store(outer.0 + 1, Relaxed);
    h.handler.store(handler, Relaxed);
    h.sp.store(t.sp as usize, Relaxed);
    let watched = signal != libc::SIGTERM && signal != h.own.load(Relaxed);
    if watched {
        set_errno(UNTOUCHED);
    }
    if ignored != [0; 3] {
        ignore(t, [0; 3]);
    }
    Some(Running { handler, outer, errno: watched.then_some(before), ignored })
}

/// It has returned. What it did to `errno` stays done, as in a run without raddle.
pub fn end(t: &mut Thread, running: Running) {
    let (n, handler, sp) = running.outer;
    t.handlers.running.store(n, Relaxed);
    t.handlers.handler.store(handler, Relaxed);
    t.handlers.sp.store(sp, Relaxed);
    if ignored(t) != running.ignored {
        ignore(t, running.ignored);
    }
    match running.errno {
        Some(before) if errno() == UNTOUCHED => set_errno(before),
        // The address stands for one of a call within the handler.
        Some(_) => tell(t, misuse::SIGNAL_ERRNO, running.handler, running.handler + 1),
        None => {}
    }
}

/// How many run: what a jump buffer remembers.
pub fn running(t: &Thread) -> u32 {
    t.handlers.running.load(Relaxed)
}

/// The thread goes on where only so many ran: it has jumped out of the others, or left them for
/// another context.
pub fn left(t: &mut Thread, still: u32) {
    if still < running(t) {
        t.handlers.running.store(still, Relaxed);
        t.handlers.own.store(0, Relaxed);
        if still == 0 {
            let before = t.handlers.ignored.each_ref().map(|n| n.load(Relaxed));
            ignore(t, before);
        }
        if still == 0 && errno() == UNTOUCHED {
            set_errno(t.handlers.errno.load(Relaxed));
        }
    }
}

/// A call that sends a signal, perhaps to the thread itself.
pub fn while_sending(t: Current, to_itself: bool, signal: c_int, real: impl FnOnce() -> c_int) -> c_int {
    if !to_itself {
        return real();
    }
    let outer = t.handlers.own.swap(signal, Relaxed);
    let result = real();
    t.handlers.own.store(outer, Relaxed);
    result
}

/// Memory is allocated or freed.
#[inline(always)]
pub fn allocates(t: &mut Thread, pc: usize) {
    if running(t) > 0 {
        let handler = t.handlers.handler.load(Relaxed);
        tell(t, misuse::SIGNAL_UNSAFE, handler, pc);
    }
}

#[cold]
#[inline(never)]
fn tell(t: &mut Thread, what: u64, handler: usize, pc: usize) {
    if t.inside > 0 || !is_watched(t) {
        return;
    }
    let _inside = t.enter();
    if report::is_new(report::mix(&[0x7369, what, handler as u64, pc as u64])) {
        let stack = depot::logged(stack(t, handler, pc));
        log::write(&Record::Misuse { what, thread: t.id() as u64, lock: 0, stack, taken: 0 });
    }
}

/// The thread's stack with `pc` on top. A library that is not instrumented hides the handler that
/// has called it, unless that has called another function in between: then the handler is put below
/// it.
fn stack(t: &mut Thread, handler: usize, pc: usize) -> u32 {
    let sp = t.sp;
    let entered = (sp as usize).saturating_sub(t.handlers.sp.load(Relaxed)) / size_of::<usize>();
    if entered <= 1 && !modules::is_instrumented(pc) {
        // SAFETY: the next free entry, where a function that is entered now would leave its own.
        unsafe {
            *sp = handler + 1;
            t.sp = sp.add(1);
        }
    }
    let stack = depot::current(t, pc);
    t.sp = sp;
    stack
}
