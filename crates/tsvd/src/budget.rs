//! Caps on the total delay, so that no test times out because of it (section 4).
//!
//! A thread pays for a delay before it begins, and gets back the time it did not sleep. So no cap
//! is ever exceeded, whatever other threads do at the same moment.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::Params;
use crate::threads::ThreadState;

#[derive(Default)]
#[repr(C)]
pub(crate) struct DelayBudget {
    test: AtomicU64,
    run: AtomicU64,
    /// Delays that were refused because the budget was used up; see [`DelayBudget::refuse`].
    pub refused: AtomicU64,
}

impl DelayBudget {
    /// Pays for a delay; false if one of the three purses is too small.
    pub(crate) fn pay(&self, params: &Params, thread: &ThreadState, now: u64, nanos: u64) -> bool {
        let purses = [
            (&thread.delayed, params.thread_cap),
            (&self.test, params.test_cap),
            (&self.run, params.run_cap),
        ];
        // A hot site asks again and again when a purse is empty. So check before writing anything
        // that others read.
        if purses.iter().any(|(purse, cap)| purse.load(Relaxed).saturating_add(nanos) > *cap) {
            self.refuse(thread, now, nanos);
            return false;
        }
        for (paid, (purse, cap)) in purses.iter().enumerate() {
            if !take(purse, *cap, nanos) {
                purses[..paid].iter().for_each(|(purse, _)| give(purse, nanos));
                self.refuse(thread, now, nanos);
                return false;
            }
        }
        true
    }

    /// Counts a refused delay, but only as often as it could have been made. A delayed thread makes
    /// no requests, so its requests within the time of one delay count once. A hot site asks a
    /// million times a second.
    pub(crate) fn refuse(&self, thread: &ThreadState, now: u64, nanos: u64) {
        let last = thread.refused.load(Relaxed);
        if last == 0 || now.saturating_sub(last) >= nanos {
            thread.refused.store(now, Relaxed);
            self.refused.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn refund(&self, thread: &ThreadState, nanos: u64) {
        [&thread.delayed, &self.test, &self.run].into_iter().for_each(|purse| give(purse, nanos));
    }

    pub(crate) fn new_test(&self) {
        self.test.store(0, Relaxed);
    }

    pub(crate) fn spent(&self) -> u64 {
        self.run.load(Relaxed)
    }
}

fn take(purse: &AtomicU64, cap: u64, nanos: u64) -> bool {
    let more = |spent: u64| spent.checked_add(nanos).filter(|sum| *sum <= cap);
    purse.fetch_update(Relaxed, Relaxed, more).is_ok()
}

fn give(purse: &AtomicU64, nanos: u64) {
    // A new test or a new thread may have emptied it meanwhile.
    _ = purse.fetch_update(Relaxed, Relaxed, |spent| Some(spent.saturating_sub(nanos)));
}
