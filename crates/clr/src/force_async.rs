//! *Force async* (section 4 of the paper): tests replace slow operations by mocks that have already
//! completed, and then one thread does what many do in production. So the profiler tells `await`
//! that the task is not complete, and the method continues in another thread.
//!
//! Exceptions, where that could change the program's behaviour or cost too much:
//! - a thread with a context or a scheduler of its own (`SynchronizationContext.Current`,
//!   `TaskScheduler.Current`): the code after `await` goes back there, and a thread that blocks
//!   there meanwhile would wait forever;
//! - a thread that holds a lock which is its own (of an object, `ReaderWriterLockSlim`,
//!   `ReaderWriterLock`, `SpinLock`, `Mutex`, a synchronized method): the code after `await` may
//!   take or release that lock, which the thread itself may and another may not, and the thread may
//!   wait for it (`lock (x) { LoadAsync().Wait(); }`). Where it is not known whether a lock was got
//!   or was released, the thread counts as holding it;
//! - a thread that has made a `TransactionScope`, or one in which the flow of the execution context
//!   is suppressed: only the thread that began either may end it. The end of a scope is not seen,
//!   so it counts until the thread ends;
//! - a `ValueTask` of an `IValueTaskSource`: when it is complete, its source need not take a
//!   continuation;
//! - a thread in a static constructor: the code after `await` may use the class, for which every
//!   other thread waits;
//! - an `await` while as many wait already as the machine has processors less one. What a thread of
//!   the pool waits for (`LoadAsync().Result`) needs another thread of the pool, of which there are
//!   at first as many as processors, and which a program may allow no more (see [`Waiting`]);
//! - awaiters outside the framework: what they do when they are complete is not known;
//! - an `await` that was forced so often that it has had its chances: see [`has_chance`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::{Mutex, OnceLock};

use crate::point::{now, this_thread, with_order};
use crate::rewrite::lock;

/// An `await` is forced this many times, and occasionally after that.
const ALWAYS: u32 = 200;
const THEN_EACH: u32 = 64;

const SITES: usize = 4096;
static COUNTS: [AtomicU32; SITES] = [const { AtomicU32::new(0) }; SITES];

/// Above the number of an `await`: it is known when the code after it runs.
const FOLLOWED: u32 = 1 << 31;

/// A number for an `await`. Those with the same number share its chances. `followed`: in a method
/// whose parts are told of with [`suspended`] and [`resumed`].
pub fn new_site(followed: bool) -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Relaxed) % SITES as u32;
    if followed { number | FOLLOWED } else { number }
}

/// The forced `await`s that have not gone on yet.
#[derive(Default)]
struct Waiting {
    all: Vec<Forced>,
    /// Tasks that have gone on before the thread that left them could say so.
    early: Vec<u32>,
}

struct Forced {
    by: u32,
    /// Zero: not known yet.
    task: u32,
    since: u64,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { all: Vec::new(), early: Vec::new() });

impl Waiting {
    /// After this time what should have gone on is no longer counted: it was not seen.
    const PATIENCE: u64 = 1_000_000_000;
    const MOST_EARLY: usize = 64;

    /// Whether one more may wait.
    fn admits(&mut self, by: u32, now: u64, most: usize) -> bool {
        self.all.retain(|forced| now.saturating_sub(forced.since) < Waiting::PATIENCE);
        let admits = self.all.len() < most;
        if admits {
            self.all.push(Forced { by, task: 0, since: now });
        }
        admits
    }

    fn suspended(&mut self, by: u32, task: u32) {
        let Some(at) = self.all.iter().position(|forced| forced.by == by && forced.task == 0) else { return };
        self.all[at].task = task;
        if self.early.contains(&task) {
            self.all.remove(at);
        }
        if self.all.iter().all(|forced| forced.task != 0) {
            self.early.clear();
        }
    }

    fn resumed(&mut self, task: u32) {
        if let Some(at) = self.all.iter().position(|forced| forced.task == task) {
            self.all.remove(at);
        } else if self.all.iter().any(|forced| forced.task == 0) && self.early.len() < Waiting::MOST_EARLY {
            self.early.push(task);
        }
    }
}

/// A part of an asynchronous method with this task has ended in a thread, and goes on later.
pub fn suspended(by: u32, task: u32) {
    lock(&WAITING).suspended(by, task);
}

/// It goes on.
pub fn resumed(task: u32) {
    lock(&WAITING).resumed(task);
}

/// How many may wait.
fn most_waiting() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1)))
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
    let is_in_class = || with_order(|known| known.is_in_class()) == Some(true);
    let has_room = || {
        let is_followed = site & FOLLOWED != 0;
        !is_followed || lock(&WAITING).admits(this_thread(), now(), most_waiting())
    };
    i32::from(has_chance(site) && !is_in_class() && has_room())
}

/// Whether the thread has no lock of its own, and the `await` was not forced too often.
fn has_chance(site: u32) -> bool {
    if LOCKS.try_with(Cell::get).unwrap_or(0) > 0 {
        return false;
    }
    let count = COUNTS[(site & !FOLLOWED) as usize % SITES].fetch_add(1, Relaxed);
    count < ALWAYS || count.is_multiple_of(THEN_EACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_with_a_lock_goes_on_at_once() {
        let site = new_site(false);
        count_locks(1);
        count_locks(1);
        count_locks(-1);
        assert!(!has_chance(site));
        count_locks(-1);
        count_locks(-1);
        assert!(has_chance(site));
        count_locks(1);
        assert!(!has_chance(site), "one more release than locks is no debt");
        count_locks(-1);
    }

    #[test]
    fn so_many_wait_and_no_more() {
        let mut waiting = Waiting::default();
        assert!(waiting.admits(1, 10, 2) && waiting.admits(2, 10, 2) && !waiting.admits(3, 10, 2));
        waiting.suspended(1, 70);
        waiting.resumed(71);
        assert!(!waiting.admits(3, 10, 2), "71 is another task");
        waiting.resumed(70);
        assert!(waiting.admits(3, 10, 2));
        // The task of thread 2 has gone on before thread 2 said which it is.
        waiting.suspended(2, 71);
        assert!(waiting.admits(4, 10, 2) && !waiting.admits(5, 10, 2));
        assert!(waiting.admits(5, 10 + Waiting::PATIENCE, 2), "they were not seen");
    }

    #[test]
    fn an_await_has_many_chances_and_then_few() {
        let site = new_site(false);
        assert!((0..ALWAYS).all(|_| has_chance(site)));
        let later = (0..6400).filter(|_| has_chance(site)).count();
        assert_eq!(later, 100);
    }
}
