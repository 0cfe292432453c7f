//! `raddle tsvd` in the target: calls of thread-unsafe functions go through a stub that may delay
//! them.
//!
//! After "Efficient Scalable Thread-Safety-Violation Detection" (Li, Lu, Musuvathi, Nath, Padhye,
//! SOSP 2019). The paper rewrites .NET binaries before they run; here the code is changed in memory
//! after loading, and no file is. The pure core, `raddle_tsvd`, decides what to do at a call; this
//! module passes it events and sleeps.
//!
//! ```text
//! redirect   points each call site of a plan at its own stub
//! hook       watches functions that are called through pointers at their entries
//! callers    which sites call those, found at run time
//! names      functions that the program looks up by name
//! plans      where plans come from: the driver, or a file beside an instrumented copy
//! copies     who calls those in an instrumented copy
//! libraries  the libraries that an instrumented copy has plans for
//! loading    libraries that are loaded while the program runs
//! pass       the fast path for calls in hot loops
//! near       … in the stub itself
//! stub       the stub, the path that saves all registers, and where stubs can be near enough
//! point      one call: which object, what the core says, sleeping, catching red-handed
//! state      the core's tables in a file that outlives the process
//! sync       synchronisation, for the policy that wants to know
//! ```
//!
//! Guaranteed:
//! - The target file and the bytes of its mapping on disk stay unchanged: pages are private copies.
//! - Only the four-byte operand of an instruction changes that the driver decoded as a call or jump
//!   to a known function, and only if the instruction is still, byte for byte, what the driver
//!   read. Instruction boundaries stay. A jump replaces the first instructions of a function whose
//!   address is taken, under the conditions of `hook`.
//! - The callee finds every register, the stack pointer and the return address as if it had been
//!   called directly. So unwinding, exceptions and `__builtin_return_address` see nothing of the
//!   stub.
//! - A delayed thread holds no lock of the runtime.
//!
//! Deviations from the paper:
//! 1. A delayed thread that was caught sleeps on to the end of its delay. If woken at once, it
//!    would run into the other thread's call, and a passing test could crash.
//! 2. Calls through registers (virtual functions, function pointers) are seen where they arrive,
//!    and only from watched code.
//! 3. For objects that may be shareable (a connection in SQLite's serialized mode), the library is
//!    asked at each call.

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
use raddle_wire::tsvd::{MAGIC, SHARED_FILE, SharedMapping, flag};

static SHARED: AtomicPtr<SharedMapping> = AtomicPtr::new(core::ptr::null_mut());

/// Per-thread state, in thread-local storage.
#[repr(C)]
pub struct Own {
    /// Counted from one; zero: not numbered yet.
    number: u32,
    /// The thread is already inside this module: a signal handler, or a library function that is
    /// asked about an object.
    inside: bool,
    /// The stack pointer and the return address of the last call that came through its site. When
    /// it arrives at the entry of a watched function, it has already been counted.
    passed: (u64, u64),
    /// What the thread was created to run, until it runs it, and where it was created.
    start: (u64, u64),
    /// The address of the thread's passes in the core's state; zero: none yet. See [`pass`].
    lane: usize,
    /// The core's epoch in which stubs may let calls pass; zero: none.
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

    /// Where the thread was created, if it was created to run the function with this entry and now
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

/// Called before the program's own code runs: redirects what is loaded.
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
    // This is the main thread, so it gets the first number.
    crate::detect::thread::current().tsvd.number();
    mode::set(Mode::Tsvd);
    redirect::all();
}

fn map_shared() -> Option<*mut SharedMapping> {
    let (at, len) = session::map_to_write(SHARED_FILE)?;
    let shared = at as *mut SharedMapping;
    // SAFETY: a mapping, which is read only if it is at least as long as a Shared.
    let known = unsafe {
        len >= size_of::<SharedMapping>()
            && (*shared).magic == MAGIC
            && (*shared).version == raddle_wire::VERSION
    };
    known.then_some(shared)
}

/// Takes a delay from the budget of the run with all its processes, and from the share of this
/// process for the time it has run.
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

/// When this process began, and the sum of its threads' delays since.
static STARTED: AtomicU64 = AtomicU64::new(0);
static SPENT_HERE: AtomicU64 = AtomicU64::new(0);

fn shared() -> Option<&'static SharedMapping> {
    // SAFETY: null or a mapping that stays.
    unsafe { SHARED.load(Relaxed).as_ref() }
}

/// `--force-async`.
pub fn forces_async() -> bool {
    shared().is_some_and(|s| s.flags & flag::FORCE_ASYNC != 0)
}

/// In the child of a fork: it gets its own empty tables and log. The code is already redirected.
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
