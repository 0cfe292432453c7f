//! Dynamic annotations: the race detection API of section 5, with the names of
//! `dynamic_annotations.h`, and TSan's public interface. `raddle/annotations.h` maps helgrind's
//! names onto these.
//!
//! They do nothing in a program that no driver watches.

use core::ffi::{c_char, c_int};

use crate::detect::held_locks::HoldMode;
use crate::detect::objects::Creation;
use crate::detect::sync::{self, Taking};
use crate::detect::thread::{Current, current};
use crate::detect::{depot, misuse, range, report};
use crate::entry::entry;
use crate::explore;
use crate::hub::{annotations, is_active, log};
use crate::interpose::thread::set_name;
use crate::interpose::{openmp, process};
use raddle_wire::record::{LockKind, MisuseKind, Record};

/// Changes the counts of what is ignored from now on.
pub fn ignore(reads: i32, writes: i32) {
    let mut t = current();
    t.ignore_reads = t.ignore_reads.saturating_add_signed(reads);
    t.ignore_writes = t.ignore_writes.saturating_add_signed(writes);
    t.set_ignores();
}

fn lock(mut t: Current, address: usize, mode: HoldMode, tried: bool) {
    let taking = Taking { mode, what: LockKind::Annotated, pc: t.caller };
    check_lock(t, address, taking);
    if !tried {
        sync::locking(&mut t, address, taking);
    }
    sync::locked(t, address, taking);
}

/// Reports an annotated lock that is taken while it cannot be free. In the child of a fork it can
/// be: the thread that held it is gone.
fn check_lock(mut t: Current, address: usize, taking: Taking) {
    if !sync::is_held_by_writer(address) || process::is_forked_child() {
        return;
    }
    let what = match taking.mode {
        HoldMode::Read => MisuseKind::ReadWhileWritten,
        HoldMode::Write if t.held.holds(address) || !t.held.knows_all() => return,
        HoldMode::Write => MisuseKind::TakenFromAnother,
    };
    misuse::of_lock(&mut t, what, address, LockKind::Annotated, taking.pc);
}

fn unlock(mut t: Current, address: usize, mode: HoldMode) {
    let held = t.held.iter().find(|l| l.key == address).map(|l| l.mode);
    let what = match held {
        Some(held) if held != mode => Some(MisuseKind::ReadAsWrite),
        None if mode == HoldMode::Write && t.held.knows_all() && sync::is_held_by_writer(address) => {
            Some(MisuseKind::UnlockOfAnothers)
        }
        None if mode == HoldMode::Write && t.held.knows_all() => Some(MisuseKind::UnlockUnlocked),
        _ => None,
    };
    if let Some(what) = what {
        let pc = t.caller;
        misuse::of_lock(&mut t, what, address, LockKind::Annotated, pc);
    }
    sync::unlocking(t, address);
}

/// A lock is made. For `flags` see [`tsan_mutex`].
fn create(address: usize, flags: u32) {
    sync::destroyed(address);
    if flags & tsan_mutex::LINKER_INIT != 0 {
        sync::set_creation(address, Creation::LinkerInitialised);
    } else if flags & tsan_mutex::NOT_STATIC != 0 {
        sync::set_creation(address, Creation::NotStatic);
    }
}

/// A lock that the linker initialised is not destroyed: it may be used until the process ends.
/// Neither is a lock that is declared not static now, but was not declared so when it was made.
fn destroy(mut t: Current, address: usize, flags: u32) {
    let made = sync::creation(address);
    let was_static = flags & tsan_mutex::NOT_STATIC != 0 && made != Creation::NotStatic;
    if flags & tsan_mutex::LINKER_INIT != 0 || made == Creation::LinkerInitialised || was_static {
        return;
    }
    if sync::is_held_by_writer(address) && !process::is_forked_child() {
        let pc = t.caller;
        misuse::of_lock(&mut t, MisuseKind::DestroyedLocked, address, LockKind::Annotated, pc);
    }
    sync::destroyed(address);
}

/// Order annotations have their own keys: an atomic at the same address follows its own rules.
fn order_key(address: usize) -> usize {
    address | 1 << 55
}

/// Exports functions that do nothing unless a driver watches. `t` is the thread, whose caller is
/// known.
macro_rules! annotation {
    ($($(#[$meta:meta])* $name:ident($($a:ident: $ty:ty),* $(,)?) |$t:ident| $body:block)*) => {$(
        const _: () = {
            $crate::entry::entry!(stringify!($name), body);
            $(#[$meta])*
            #[allow(unused_variables)]
            extern "C" fn body($($a: $ty),*) {
                if crate::explore::is_on() {
                    use crate::explore::states;
                    states::calls(states::Listed::Not, 0);
                }
                if is_active() && current().known {
                    #[allow(unused_mut, reason = "not every body lends it")]
                    let mut $t = current();
                    $body
                }
            }
        };
    )*};
}

/// Happens-before annotations, for the detector or for the explored execution.
fn promises(address: usize) {
    if explore::is_on() {
        explore::memory::promises(address);
    } else if is_active() && current().known {
        sync::release(current(), order_key(address));
    }
}

fn expects(address: usize) {
    if explore::is_on() {
        explore::memory::expects(address);
    } else if is_active() && current().known {
        sync::acquire(current(), order_key(address));
    }
}

/// A signal of a condition variable is a promise, and also goes to the variable at that address:
/// its waiter may be a function of the C library.
fn signals(cv: usize) {
    promises(cv);
    if !explore::is_on() && is_active() && current().known {
        sync::release(current(), cv);
    }
}

fn waits(cv: usize) {
    expects(cv);
    if !explore::is_on() && is_active() && current().known {
        sync::acquire(current(), cv);
    }
}

/// Exports order annotations, whose last argument is an address, with what they do.
macro_rules! order {
    ($($name:ident($($a:ident: $ty:ty),* => $address:ident) $body:expr;)*) => {$(
        const _: () = {
            entry!(stringify!($name), body);
            extern "C" fn body($($a: $ty,)* $address: usize) {
                $body
            }
        };
    )*};
}

order! {
    AnnotateHappensBefore(file: File, _line: c_int => address) {
        openmp::releases(file, order_key(address));
        promises(address)
    };
    AnnotateHappensAfter(file: File, _line: c_int => address) {
        openmp::acquires(file, order_key(address));
        expects(address)
    };
    WTFAnnotateHappensBefore(_file: File, _line: c_int => address) promises(address);
    WTFAnnotateHappensAfter(_file: File, _line: c_int => address) expects(address);
    __tsan_release(=> address) promises(address);
    __tsan_acquire(=> address) expects(address);
    AnnotateCondVarSignal(_file: File, _line: c_int => cv) signals(cv);
    AnnotateCondVarSignalAll(_file: File, _line: c_int => cv) signals(cv);
    AnnotatePCQPut(_file: File, _line: c_int => queue) promises(queue);
    AnnotatePCQGet(_file: File, _line: c_int => queue) expects(queue);
}
const _: () = {
    entry!("AnnotateCondVarWait", body);
    extern "C" fn body(_: File, _: c_int, cv: usize, _lock: usize) {
        waits(cv);
    }
};

type File = *const c_char;
type Text = *const c_char;

annotation! {
    AnnotateMutexIsUsedAsCondVar(file: File, line: c_int, mutex: usize) |t| { sync::order_by(mutex) }
    /// Treats the lock as in happens-before mode, whatever the mode.
    AnnotatePureHappensBeforeMutex(file: File, line: c_int, mutex: usize) |t| { sync::order_by(mutex) }
    /// The lock is only held, and orders nothing, whatever the mode.
    AnnotateMutexIsNotPHB(file: File, line: c_int, mutex: usize) |t| { sync::only_hold(mutex) }
    AnnotateRWLockCreate(file: File, line: c_int, lock: usize) |t| { create(lock, 0) }
    AnnotateRWLockCreateStatic(file: File, line: c_int, lock: usize) |t| { create(lock, tsan_mutex::LINKER_INIT) }
    AnnotateRWLockDestroy(file: File, line: c_int, lock: usize) |t| { destroy(t, lock, 0) }
    AnnotateRWLockAcquired(file: File, line: c_int, address: usize, is_write: usize) |t| {
        lock(t, address, if is_write != 0 { HoldMode::Write } else { HoldMode::Read }, false)
    }
    AnnotateRWLockReleased(file: File, line: c_int, address: usize, is_write: usize) |t| {
        unlock(t, address, if is_write != 0 { HoldMode::Write } else { HoldMode::Read })
    }
    /// The bytes are about to be published safely: an edge from here to every later access. The
    /// detector treats them as never touched.
    AnnotatePublishMemoryRange(file: File, line: c_int, address: usize, size: usize) |t| { range::clear(address, size) }
    /// The bytes belong to this thread again: an edge from all earlier accesses to here.
    AnnotateUnpublishMemoryRange(file: File, line: c_int, address: usize, size: usize) |t| { range::clear(address, size) }
    AnnotateNewMemory(file: File, line: c_int, address: usize, size: usize) |t| {
        crate::detect::objects::remove_range(address, size);
        let pc = t.caller;
        range::fresh(&mut t, address, size, pc)
    }
    AnnotateBenignRace(file: File, line: c_int, address: usize, description: Text) |t| { benign(t, address, 8) }
    AnnotateBenignRaceSized(file: File, line: c_int, address: usize, size: usize, description: Text) |t| {
        benign(t, address, size)
    }
    WTFAnnotateBenignRaceSized(file: File, line: c_int, address: usize, size: usize, description: Text) |t| {
        benign(t, address, size)
    }
    AnnotateExpectRace(file: File, line: c_int, address: usize, description: Text) |t| {
        expect(t, address, description)
    }
    AnnotateFlushExpectedRaces(file: File, line: c_int) |t| {}
    AnnotateIgnoreReadsBegin(file: File, line: c_int) |t| { ignore(1, 0) }
    AnnotateIgnoreReadsEnd(file: File, line: c_int) |t| { ignore(-1, 0) }
    /// Ignores reads as well, like ThreadSanitizer: the code in between belongs to a library
    /// (Archer's reductions), which reads what it is about to write.
    AnnotateIgnoreWritesBegin(file: File, line: c_int) |t| { ignore(1, 1) }
    AnnotateIgnoreWritesEnd(file: File, line: c_int) |t| { ignore(-1, -1) }
    AnnotateIgnoreSyncBegin(file: File, line: c_int) |t| { t.ignore_sync = t.ignore_sync.saturating_add(1) }
    AnnotateIgnoreSyncEnd(file: File, line: c_int) |t| { t.ignore_sync = t.ignore_sync.saturating_sub(1) }
    /// Races that occur while it is off are not reported.
    AnnotateEnableRaceDetection(file: File, line: c_int, enable: c_int) |t| { report::enable(enable != 0) }
    /// A queue of producers and consumers: each element taken out comes after all that were put in.
    AnnotatePCQCreate(file: File, line: c_int, queue: usize) |t| { sync::destroyed(order_key(queue)) }
    AnnotatePCQDestroy(file: File, line: c_int, queue: usize) |t| { sync::destroyed(order_key(queue)) }
    /// For tools that check other things, or log.
    AnnotateTraceMemory(file: File, line: c_int, address: usize) |t| {}
    AnnotateNoOp(file: File, line: c_int, address: usize) |t| {}
    AnnotateMemoryIsInitialized(file: File, line: c_int, address: usize, size: usize) |t| {}
    AnnotateMemoryIsUninitialized(file: File, line: c_int, address: usize, size: usize) |t| {}
    AnnotateThreadName(file: File, line: c_int, name: Text) |t| {
        // SAFETY: a known thread has a card; the name is the program's string.
        unsafe { set_name(&*t.card, name) }
    }
    AnnotateFlushState(file: File, line: c_int) |t| { crate::detect::flush::flush() }

    __tsan_flush_memory() |t| { crate::detect::flush::flush() }
    __tsan_mutex_create(m: usize, flags: u32) |t| { create(m, flags) }
    __tsan_mutex_destroy(m: usize, flags: u32) |t| {
        destroy(t, m, flags)
    }
    __tsan_mutex_pre_lock(m: usize, flags: u32) |t| {}
    __tsan_mutex_post_lock(m: usize, flags: u32, recursion: c_int) |t| {
        let mode = if flags & tsan_mutex::READ_LOCK != 0 { HoldMode::Read } else { HoldMode::Write };
        if flags & tsan_mutex::TRY_LOCK_FAILED == 0 {
            lock(t, m, mode, flags & tsan_mutex::TRY_LOCK != 0)
        }
    }
    __tsan_mutex_post_unlock(m: usize, flags: u32) |t| {}
    __tsan_mutex_pre_signal(m: usize, flags: u32) |t| { sync::release(t, m) }
    __tsan_mutex_post_signal(m: usize, flags: u32) |t| {}
    __tsan_mutex_pre_divert(m: usize, flags: u32) |t| {}
    __tsan_mutex_post_divert(m: usize, flags: u32) |t| {}
}

/// Returns how often a recursive mutex was held, which is always once here.
#[unsafe(no_mangle)]
extern "C" fn __tsan_mutex_pre_unlock(m: usize, _flags: u32) -> c_int {
    if is_active() {
        sync::unlocking(current(), m);
    }
    1
}

/// Flags of `__tsan_mutex_*`, as tsan_interface.h numbers them.
mod tsan_mutex {
    pub const LINKER_INIT: u32 = 1;
    pub const NOT_STATIC: u32 = 1 << 8;
    pub const READ_LOCK: u32 = 1 << 3;
    pub const TRY_LOCK: u32 = 1 << 4;
    pub const TRY_LOCK_FAILED: u32 = 1 << 5;
}

/// A fiber of TSan's interface: a shadow call stack on which the thread continues. Fibers of one
/// thread are ordered as the thread runs them.
struct Fiber {
    stack: *mut usize,
    sp: *mut usize,
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_create_fiber(_flags: u32) -> *mut Fiber {
    let fiber = crate::sys::ARENA.take(size_of::<Fiber>()).cast::<Fiber>();
    let stack = crate::detect::trace::shadow_stack(1 << 20);
    // SAFETY: fresh memory of the right size.
    unsafe { fiber.write(Fiber { stack, sp: stack }) };
    fiber
}

/// The thread's current stack, as a fiber to return to.
#[unsafe(no_mangle)]
extern "C" fn __tsan_get_current_fiber() -> *mut Fiber {
    let mut t = current();
    if t.fiber.is_null() {
        let fiber = crate::sys::ARENA.take(size_of::<Fiber>()).cast::<Fiber>();
        // SAFETY: fresh memory of the right size.
        unsafe { fiber.write(Fiber { stack: t.trace.stack, sp: t.sp }) };
        t.fiber = fiber.cast();
    }
    t.fiber.cast()
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_switch_to_fiber(to: *mut Fiber, _flags: u32) {
    let mut t = current();
    if !t.known || to.is_null() {
        return;
    }
    let from = __tsan_get_current_fiber();
    // SAFETY: fibers come from the two functions above and are not freed.
    unsafe {
        from.write(Fiber { stack: t.trace.stack, sp: t.sp });
        t.trace.switch_stack((*to).stack, (*to).sp);
        t.sp = (*to).sp;
    }
    t.fiber = to.cast();
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_destroy_fiber(_fiber: *mut Fiber) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_set_fiber_name(_fiber: *mut Fiber, _name: Text) {}

fn benign(mut t: Current, address: usize, size: usize) {
    let _inside = t.enter();
    annotations::benign(address, size);
}

fn expect(mut t: Current, address: usize, description: Text) {
    let _inside = t.enter();
    annotations::expect(address, 1);
    let mut len = 0;
    // SAFETY: null or the program's string.
    let text = unsafe {
        while !description.is_null() && *description.add(len) != 0 && len < 200 {
            len += 1;
        }
        if len == 0 { &[] } else { core::slice::from_raw_parts(description.cast::<u8>(), len) }
    };
    let stack = depot::logged(depot::current(&t, t.caller));
    log::write(&Record::ExpectRace { address: address as u64, size: 1, stack, description: text });
}

/// A program may ask whether a detector runs, to do less work.
#[unsafe(no_mangle)]
extern "C" fn RunningOnValgrind() -> c_int {
    is_active() as c_int
}

/// How much slower the program is than without raddle, for its timeouts.
#[unsafe(no_mangle)]
extern "C" fn ValgrindSlowdown() -> f64 {
    if is_active() { 10.0 } else { 1.0 }
}

/// Some programs query a race detector about itself.
#[unsafe(no_mangle)]
extern "C" fn ThreadSanitizerQuery(_query: Text) -> Text {
    c"0".as_ptr()
}
