//! The detector: shadow memory, clocks, locksets, and the history that reports are built from.
//!
//! This is the fast form of ThreadSanitizer's state machines (Serebryany and Iskhodzhanov, 2009,
//! sections 4.2 to 4.4). The slow and readable form is the crate `raddle-race`; random traces go
//! through both (`tests/oracle.rs`). Nothing here knows how events arrive: `tsan_abi` and
//! `interpose` call in with the thread, the address and the program counter.
//!
//! Deviations from the paper:
//! 1. State is kept for 8-byte granules with byte masks, in four slots of segment, mask, read and
//!    atomic (4.2 keeps two segment sets for each byte). A granule that more than four unordered
//!    segments touch forgets one of them (6.1 bounds its sets the same way).
//! 2. A segment is a thread's slot number and epoch, which also identify its lockset
//!    ([`held_locks`]). Segments are recycled with the slot number, not singly ([`sids`]). Clocks
//!    of objects leave out slot numbers that others imply ([`chain`]).
//! 3. In fast mode, a cache line that one thread owned becomes shared for all its granules at once,
//!    as in 4.4.2. But each granule records the owner, so the probes need not look at the line
//!    ([`check`]).
//! 4. C++11 atomics are synchronisation here (the paper has only annotations): see [`atomics`].
//! 5. OpenMP's tasks and sections are threads of their own, whichever thread runs them: see
//!    [`contexts`].
//! 6. A granule keeps its state after a race on it; [`report`] folds repetitions.

pub mod atomics;
pub mod chain;
pub mod check;
pub mod clock;
pub mod contexts;
pub mod depot;
pub mod flush;
pub mod hand_over;
pub mod handlers;
pub mod heap;
pub mod held_locks;
pub mod misuse;
pub mod object_clock;
pub mod objects;
pub mod pairs;
pub mod quarantine;
pub mod range;
pub mod replay;
pub mod report;
pub mod sids;
pub mod sync;
pub mod task_order;
#[cfg(panic = "unwind")]
pub mod testing;
pub mod thread;
pub mod thread_storage;
pub mod trace;

use crate::sys::Shared;

/// The driver's settings, fixed before the first event.
#[derive(Clone, Copy)]
pub struct Settings {
    /// Locks contribute to locksets, not to happens-before.
    pub hybrid: bool,
    /// Lane 3 holds owners: fast mode or the initialization state.
    pub owners: bool,
    /// Owners are those of cache lines (fast mode), not of granules.
    pub lines: bool,
    pub history: u32,
    pub lock_order: bool,
    pub condvar_mutexes_order: bool,
}

impl Settings {
    pub const DEFAULT: Settings = Settings {
        hybrid: false,
        owners: false,
        lines: false,
        history: 1,
        lock_order: false,
        condvar_mutexes_order: false,
    };
}

static SETTINGS: Shared<Settings> = Shared::new(Settings::DEFAULT);

#[inline(always)]
pub fn settings() -> &'static Settings {
    // SAFETY: written by `configure` only, before there is a second thread.
    unsafe { &*SETTINGS.get() }
}

static PLAIN: Shared<bool> = Shared::new(false);

/// True if all four lanes of a granule hold slots, and only the first access of a segment leaves an
/// event.
#[inline(always)]
pub fn is_plain() -> bool {
    // SAFETY: as in `settings`.
    unsafe { *PLAIN.get() }
}

/// Must be called before the first event.
pub fn configure(settings: Settings) {
    // SAFETY: the process has one thread, and no event has been handled.
    unsafe {
        *SETTINGS.get() = settings;
        *PLAIN.get() = !settings.owners && settings.history == 1;
    }
    held_locks::prepare_tables();
    thread::prepare_table();
    depot::prepare();
}
