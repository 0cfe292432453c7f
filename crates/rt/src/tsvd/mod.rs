//! `raddle tsvd` in the target: calls of thread-unsafe functions go through a stub that may delay
//! them.
//!
//! After "Efficient Scalable Thread-Safety-Violation Detection" (Li, Lu, Musuvathi, Nath, Padhye,
//! SOSP 2019). The paper rewrites .NET binaries before they run; here the code in memory is changed
//! when it has been loaded, and no file is. What to do at a call is decided by the pure core,
//! `raddle_tsvd`; this module brings it its events and sleeps.
//!
//! ```text
//! redirect   points each call site of a plan at a stub of its own
//! hook       watches functions at their entries that are called through pointers
//! callers    which places call those, found out as they do
//! names      functions that are looked up by name when the program runs
//! plans      where plans come from: the driver is asked, or there is one beside an instrumented copy
//! copies     who calls those in an instrumented copy
//! libraries  those that an instrumented copy has plans for
//! loading    libraries that come while the program runs
//! pass       what hot loops call is let by
//! near       … at once, by the stub itself
//! stub       the stub, the way through it that keeps all registers, and where stubs can be near enough
//! point      one call: which object, what the core says, sleeping, catching red-handed
//! state      the core's tables in a file that outlives the process
//! sync       what synchronises, for the policy that wants to know
//! ```
//!
//! Guaranteed:
//! - The target file and the bytes of its mapping on disk stay as they are: pages are private
//!   copies.
//! - Only the four-byte operand of an instruction changes that the driver decoded as a call or jump
//!   to a known function, and only if the instruction is still, byte for byte, what the driver
//!   read. Instruction boundaries stay. The first instructions of a function whose address is taken
//!   give way to a jump, under the conditions of `hook`.
//! - The callee finds every register, the stack pointer and the return address as if it had been
//!   called straight, so unwinding, exceptions and `__builtin_return_address` see nothing of the
//!   stub.
//! - A thread that is delayed holds no lock of the runtime.
//!
//! Deviations from the paper:
//! 1. A delayed thread that was caught sleeps on to the end of its delay. Woken at once, it would
//!    run into the other one's call, and a test that passed could crash.
//! 2. Calls through registers (virtual functions, function pointers) are seen where they arrive,
//!    and only from code that is watched.
//! 3. Objects that are found to be shareable (a connection in SQLite's serialized mode) are asked
//!    about at each call.

mod callers;
mod copies;
mod hook;
mod libraries;
mod loading;
mod names;
mod near;
mod pass;
mod plans;
pub mod point;
pub mod redirect;
mod state;
pub mod stub;
pub mod sync;

use core::num::NonZero;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

use crate::hub::session;
use crate::mode::{self, Mode};
use crate::sys;
use raddle_wire::tsvd::{MAGIC, SHARED_FILE, Shared, flag};

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(core::ptr::null_mut());

/// A thread's own, in its thread-local storage.
#[repr(C)]
pub struct Own {
    /// Counted from one; zero: not numbered yet.
    number: u32,
    /// In here already: a signal handler, or a function of the library that is asked about an
    /// object.
    inside: bool,
    /// The stack pointer and the return address of the last call that came through its site: when
    /// it arrives at the entry of a function that is watched, it has been counted.
    passed: (u64, u64),
    /// What the thread was created to run, until it does, and where it was created.
    start: (u64, u64),
    /// The thread's passes in the core's state; zero: it has none yet. See [`pass`].
    lane: usize,
    /// The epoch of the core in which stubs may let calls by; zero: none.
    near_epoch: u32,
    near: [pass::Near; pass::NEAR],
}

/// The next thread's number.
static THREADS: AtomicU32 = AtomicU32::new(0);

impl Own {
    #[inline(always)]
    fn number(&mut self) -> u32 {
        if self.number == 0 {
            self.number = new_number() + 1;
        }
        self.number - 1
    }

    /// Where the thread was created, if it was created to run the function with this entry and
    /// begins to.
    fn take_start(&mut self, entry: u64) -> Option<NonZero<u64>> {
        /// An `endbr64` stays before the jump.
        const MARK: u64 = 4;
        let (function, caller) = self.start;
        if function == 0 || function != entry && function + MARK != entry {
            return None;
        }
        self.start = (0, 0);
        NonZero::new(caller)
    }

    fn set_number(&mut self, number: u32) {
        self.number = number + 1;
    }
}

#[cold]
fn new_number() -> u32 {
    crate::hub::log::count_thread();
    THREADS.fetch_add(1, Relaxed)
}

#[inline(always)]
pub fn is_on() -> bool {
    mode::mode() == Mode::Tsvd
}

static ITSELF: AtomicBool = AtomicBool::new(false);

/// The program is an instrumented copy that no driver has started: its plan was made beforehand.
pub fn watch_itself() {
    ITSELF.store(true, Relaxed);
}

/// Before the program's own code runs: redirects what is loaded.
pub fn turn_on() {
    let Some(shared) = map_shared() else { return };
    SHARED.store(shared, Release);
    if !state::open() {
        return;
    }
    // SAFETY: mapped, and stays so.
    if unsafe { (*shared).flags } & flag::SYNC_EVENTS != 0 {
        sync::turn_on();
    }
    STARTED.store(point::now(), Relaxed);
    // This is the main thread: it is the first.
    crate::detect::thread::current().tsvd.number();
    mode::set(Mode::Tsvd);
    redirect::all();
}

fn map_shared() -> Option<*mut Shared> {
    let (at, len) = session::map_to_write(SHARED_FILE)?;
    let shared = at as *mut Shared;
    // SAFETY: a mapping, which is only looked at where it is at least as long as a Shared.
    let known = unsafe {
        len >= size_of::<Shared>() && (*shared).magic == MAGIC && (*shared).version == raddle_wire::VERSION
    };
    known.then_some(shared)
}

/// Takes a delay from what the run may still spend in all its processes, and this process in the
/// time it has run.
fn pay(now: u64, nanos: u64) -> bool {
    let Some(shared) = shared() else { return false };
    let here = SPENT_HERE.load(Relaxed);
    let elapsed = now.saturating_sub(STARTED.load(Relaxed));
    let allowed = u64::from(shared.slack) * 1_000_000 + elapsed / 1_000_000 * u64::from(shared.share);
    let budget = shared.budget.load(Relaxed);
    let more = |spent: u64| spent.checked_add(nanos).filter(|sum| *sum <= budget);
    if here + nanos > allowed || shared.spent.fetch_update(Relaxed, Relaxed, more).is_err() {
        return false;
    }
    SPENT_HERE.fetch_add(nanos, Relaxed);
    true
}

/// When this process began, and how long its threads have been held since, one beside the other.
static STARTED: AtomicU64 = AtomicU64::new(0);
static SPENT_HERE: AtomicU64 = AtomicU64::new(0);

fn shared() -> Option<&'static Shared> {
    // SAFETY: null or a mapping that stays.
    unsafe { SHARED.load(Relaxed).as_ref() }
}

/// `--force-async`.
pub fn forces_async() -> bool {
    shared().is_some_and(|s| s.flags & flag::FORCE_ASYNC != 0)
}

/// In the child of a fork: tables and log are its own, and empty. The code is redirected already.
pub fn in_child() {
    if !is_on() {
        return;
    }
    STARTED.store(point::now(), Relaxed);
    SPENT_HERE.store(0, Relaxed);
    let own = &mut crate::detect::thread::current().tsvd;
    own.lane = 0;
    pass::forget(own);
    redirect::reset_after_fork();
    sync::reset_after_fork();
    sys::ARENA.reset_lock();
    crate::hub::init::new_log_of_child();
    if !state::reopen() {
        mode::set(Mode::Off);
    }
}
