//! What `tests/oracle.rs` needs of the detector beyond its public interface. Not part of the
//! runtime: tests unwind.

use core::cell::RefCell;

use super::thread::{Current, Thread, current};
use crate::layout::{RESERVED, shadow_of};
use crate::sys;

pub use crate::layout::{ATOMIC, EPOCH_MAX, READ, SLOTS, epoch, sid};

const ALREADY: isize = -(libc::EEXIST as isize);

thread_local! {
    static RACES: RefCell<Vec<RacePair>> = const { RefCell::new(Vec::new()) };
}

/// One pair of accesses, as passed to [`super::report::race`].
#[derive(Clone, Copy, Debug)]
pub struct RacePair {
    /// The first byte of the granule.
    pub granule: usize,
    pub current: u32,
    pub other: u32,
}

/// Called for each pair, before repetitions are folded.
pub fn note(address: usize, current: u32, other: u32) {
    RACES.with_borrow_mut(|races| races.push(RacePair { granule: address & !7, current, other }));
}

/// The races noted since the last call.
pub fn take_races() -> Vec<RacePair> {
    RACES.take()
}

/// Must be called once in a process, before the first event. In a test with probes linked in it is
/// already done: the runtime starts with the process even if nobody watches.
pub fn reserve_shadow() {
    for range in RESERVED {
        let done = sys::reserve(range.start, range.len());
        assert!(matches!(done, Ok(()) | Err(ALREADY)), "{done:?}");
    }
}

/// The slots of the granule that `address` lies in.
pub fn slots(address: usize) -> [u32; SLOTS] {
    // SAFETY: shadow is mapped, and the caller is the only thread of the test that uses it.
    unsafe { *shadow_of(address).cast::<[u32; SLOTS]>() }
}

/// The address of these slots.
pub fn slots_at(address: usize) -> *mut u8 {
    shadow_of(address)
}

pub fn set_slots(address: usize, slots: [u32; SLOTS]) {
    // SAFETY: as in `slots`.
    unsafe { *shadow_of(address).cast::<[u32; SLOTS]>() = slots }
}

/// A thread that is not yet known.
pub fn blank() -> Box<Thread> {
    // SAFETY: thread-local storage is zero at first, so zero is valid for a thread.
    Box::new(unsafe { core::mem::zeroed() })
}

/// For functions of the detector that take the running thread.
pub fn handle(thread: &mut Thread) -> Current {
    // SAFETY: tests use the handle for one call, while they have exclusive access to the thread.
    unsafe { Current::new(thread) }
}

/// Makes `thread` the running thread while `f` runs: the probes use thread-local storage.
pub fn run_as(thread: &mut Thread, f: impl FnOnce()) {
    core::mem::swap(&mut *current(), thread);
    f();
    core::mem::swap(&mut *current(), thread);
}
