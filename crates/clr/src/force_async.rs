//! *Force async* (section 4 of the paper): tests replace slow operations by mocks that have already
//! completed, and then one thread does what many do in production. So the profiler tells `await`
//! that the task is not complete, and the method continues in another thread.
//!
//! Exceptions, where that could change the program's behaviour or cost too much:
//! - a thread with a context or a scheduler of its own (`SynchronizationContext.Current`,
//!   `TaskScheduler.Current`): the code after `await` goes back there, and a thread that blocks
//!   there meanwhile would wait forever;
//! - a thread that holds the lock of an object: the code after `await` may take that lock, which
//!   the thread itself may and another may not, and the thread may wait for it (`lock (x) {
//!   LoadAsync().Wait(); }`);
//! - awaiters outside the framework: what they do when they are complete is not known;
//! - an `await` that was forced so often that it has had its chances: see [`forced`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::*};

/// An `await` is forced this many times, and occasionally after that.
const ALWAYS: u32 = 200;
const THEN_EACH: u32 = 64;

const SITES: usize = 4096;
static COUNTS: [AtomicU32; SITES] = [const { AtomicU32::new(0) }; SITES];

/// A number for an `await`. Those with the same number share its chances.
pub fn new_site() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Relaxed) % SITES as u32
}

thread_local! {
    /// The locks of objects that the thread has taken in the user's modules and not released.
    static LOCKS: Cell<i32> = const { Cell::new(0) };
}

/// Counts a lock that was taken or is about to be released.
pub fn count_locks(more: i32) {
    // A thread that is ending has none.
    _ = LOCKS.try_with(|locks| locks.set((locks.get() + more).max(0)));
}

/// Called like managed code. Not zero if this `await` of a complete task must wait.
pub extern "C" fn forced(site: u32) -> i32 {
    if LOCKS.try_with(Cell::get).unwrap_or(0) > 0 {
        return 0;
    }
    let count = COUNTS[site as usize % SITES].fetch_add(1, Relaxed);
    i32::from(count < ALWAYS || count.is_multiple_of(THEN_EACH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_with_a_lock_goes_on_at_once() {
        let site = new_site();
        count_locks(1);
        count_locks(1);
        count_locks(-1);
        assert_eq!(forced(site), 0);
        count_locks(-1);
        count_locks(-1);
        assert_ne!(forced(site), 0);
        count_locks(1);
        assert_eq!(forced(site), 0, "one more release than locks is no debt");
        count_locks(-1);
    }

    #[test]
    fn an_await_has_many_chances_and_then_few() {
        let site = new_site();
        assert!((0..ALWAYS).all(|_| forced(site) != 0));
        let later = (0..6400).filter(|_| forced(site) != 0).count();
        assert_eq!(later, 100);
    }
}
