//! Misuse in signal handlers, as ThreadSanitizer reports it. A handler must not allocate or free
//! memory, since it may have interrupted the allocator. It must not change `errno`, since it may
//! have interrupted code that is about to read it.
//!
//! Handlers of signals that a thread causes itself (faults, SIGABRT, SIGPIPE) are no surprise and
//! are not checked. `errno` is also not checked if the thread sent the signal to itself, nor for
//! SIGTERM, whose handlers often end the process. Handlers of uninstrumented libraries are not
//! checked.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};

use super::misuse::is_watched;
use super::thread::{Current, Thread};
use super::{depot, report};
use crate::hub::{log, modules};
use crate::mode::{Mode, mode};
use crate::sys::{errno, set_errno};
use raddle_wire::record::{MisuseKind, Record};

/// The value of `errno` until a handler changes it: no error has this number.
const UNTOUCHED: c_int = 1 << 20;

/// The handlers that run on a thread, nested. Zero is none. The fields are atomic because a handler
/// changes them while the call that it interrupts may hold a reference.
#[repr(C)]
pub struct Handlers {
    running: AtomicU32,
    /// The signal that the thread is sending to itself at this moment; 0: none.
    own: AtomicI32,
    /// `errno` before the outermost handler.
    errno: AtomicI32,
    /// The innermost handler, and the height of the shadow call stack before it.
    handler: AtomicUsize,
    sp: AtomicUsize,
    /// What annotations made the thread ignore before the outermost handler.
    ignored: [AtomicU32; 3],
}

impl Handlers {
    /// True if the thread runs a handler that is watched.
    pub fn is_running(&self) -> bool {
        self.running.load(Relaxed) != 0
    }
}

/// One handler that was called. It has nothing to drop: an exception or a jump may leave it.
#[derive(Clone, Copy)]
pub struct Running {
    handler: usize,
    /// The state before it: the number of handlers, the innermost one, and its height.
    outer: (u32, usize, usize),
    /// `errno` before it, if it is watched.
    errno: Option<c_int>,
    ignored: [u32; 3],
}

/// What annotations make the thread ignore: reads, writes, synchronisation. They apply to the code
/// between them, not to a handler that interrupts it.
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

/// Called before the program's handler. None: the handler is not watched.
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

/// The handler has returned. Its change of `errno` stays, as in a run without raddle.
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
        // The address stands for a call within the handler.
        Some(_) => tell(t, MisuseKind::SignalErrno, running.handler, running.handler + 1),
        None => {}
    }
}

/// The number of running handlers, which a jump buffer remembers.
pub fn running(t: &Thread) -> u32 {
    t.handlers.running.load(Relaxed)
}

/// The thread continues where only `still` handlers ran: it has jumped out of the others, or left
/// them for another context.
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

/// Sends a signal with `real`, perhaps to the thread itself.
pub fn while_sending(t: Current, to_itself: bool, signal: c_int, real: impl FnOnce() -> c_int) -> c_int {
    if !to_itself {
        return real();
    }
    let outer = t.handlers.own.swap(signal, Relaxed);
    let result = real();
    t.handlers.own.store(outer, Relaxed);
    result
}

/// Reports a handler that allocates or frees memory.
#[inline(always)]
pub fn allocates(t: &mut Thread, pc: usize) {
    if running(t) > 0 {
        let handler = t.handlers.handler.load(Relaxed);
        tell(t, MisuseKind::SignalUnsafe, handler, pc);
    }
}

#[cold]
#[inline(never)]
fn tell(t: &mut Thread, what: MisuseKind, handler: usize, pc: usize) {
    if t.inside > 0 || !is_watched(t) {
        return;
    }
    let _inside = t.enter();
    if report::is_new(report::mix(&[0x7369, what.number(), handler as u64, pc as u64])) {
        let stack = depot::logged(stack(t, handler, pc));
        let handler = if what == MisuseKind::SignalUnsafe { handler as u64 } else { 0 };
        log::write(&Record::Misuse { what, thread: t.id() as u64, lock: handler, stack, taken: 0 });
    }
}

/// The thread's stack with `pc` on top. An uninstrumented library hides the handler that called it,
/// unless the handler has called another function in between. So the handler is put below it.
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
