//! Address ranges on which races are benign or expected.
//!
//! A program may annotate a field of each of its objects, and later free them. So the table finds
//! ranges by the cache lines they cover. The few ranges of more than [`SHORT`] lines are in a
//! separate list. Memory of removed ranges is reused.

use core::sync::atomic::{AtomicUsize, Ordering::*};

use crate::sys::{self, Shared, Spin};

const LINE: usize = 64;
/// A longer range does not get an entry for each line.
const SHORT: usize = 16;
const BUCKETS: usize = 1 << 12;

/// A range, in the chain of one of its lines.
struct Range {
    start: usize,
    end: usize,
    next: *mut Range,
    seen: bool,
}

struct Ranges {
    count: AtomicUsize,
    /// The last chain holds the long ranges.
    chains: Shared<[*mut Range; BUCKETS + 1]>,
}

/// Guards everything in this file. The thread that holds it is inside the runtime, so no signal
/// handler waits for it.
static LOCK: Spin = Spin::new();
static FREE: Shared<*mut Range> = Shared::new(core::ptr::null_mut());
static BENIGN: Ranges = Ranges::empty();
static EXPECTED: Ranges = Ranges::empty();

fn bucket(line: usize) -> usize {
    line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52
}

/// The lines by which a range is found. Empty for a long range.
fn lines(start: usize, end: usize) -> core::ops::Range<usize> {
    let all = start / LINE..end.div_ceil(LINE);
    if all.len() > SHORT { 0..0 } else { all }
}

impl Ranges {
    const fn empty() -> Ranges {
        Ranges { count: AtomicUsize::new(0), chains: Shared::new([core::ptr::null_mut(); BUCKETS + 1]) }
    }

    fn chain(&self, at: usize) -> *mut *mut Range {
        // SAFETY: an index below the length.
        unsafe { self.chains.get().cast::<*mut Range>().add(at) }
    }

    fn add(&self, start: usize, size: usize) {
        let (end, _guard) = (start.saturating_add(size.max(1)), LOCK.lock());
        let lines = lines(start, end);
        if lines.is_empty() {
            self.add_to(BUCKETS, start, end);
        }
        lines.for_each(|line| self.add_to(bucket(line), start, end));
        self.count.fetch_add(1, Release);
    }

    fn add_to(&self, chain: usize, start: usize, end: usize) {
        // SAFETY: under LOCK. Ranges come from the list or fresh from the arena.
        unsafe {
            let mut it = *FREE.get();
            if it.is_null() {
                it = sys::ARENA.take(size_of::<Range>()).cast();
            } else {
                *FREE.get() = (*it).next;
            }
            it.write(Range { start, end, next: *self.chain(chain), seen: false });
            *self.chain(chain) = it;
        }
    }

    /// Calls `f` with the range around `address`, if there is one.
    fn with<R>(&self, address: usize, f: impl FnOnce(&mut Range) -> R) -> Option<R> {
        if self.count.load(Acquire) == 0 {
            return None;
        }
        let _guard = LOCK.lock();
        for chain in [bucket(address / LINE), BUCKETS] {
            // SAFETY: under LOCK.
            unsafe {
                let mut it = *self.chain(chain);
                while !it.is_null() {
                    if (*it).start <= address && address < (*it).end {
                        return Some(f(&mut *it));
                    }
                    it = (*it).next;
                }
            }
        }
        None
    }

    /// Removes the ranges within these bytes.
    fn forget(&self, start: usize, end: usize) {
        if self.count.load(Relaxed) == 0 {
            return;
        }
        let _guard = LOCK.lock();
        let lines = start / LINE..end.div_ceil(LINE);
        if lines.len() > BUCKETS {
            (0..BUCKETS).for_each(|chain| self.forget_in(chain, start, end));
        } else {
            lines.for_each(|line| self.forget_in(bucket(line), start, end));
        }
        if end - start > SHORT * LINE {
            self.forget_in(BUCKETS, start, end);
        }
    }

    fn forget_in(&self, chain: usize, start: usize, end: usize) {
        // SAFETY: under LOCK.
        unsafe {
            let mut link = self.chain(chain);
            while !(*link).is_null() {
                let it = *link;
                if (*it).start >= start && (*it).end <= end {
                    *link = (*it).next;
                    (*it).next = *FREE.get();
                    *FREE.get() = it;
                } else {
                    link = &raw mut (*it).next;
                }
            }
        }
    }
}

pub fn benign(address: usize, size: usize) {
    BENIGN.add(address, size);
}

pub fn is_benign(address: usize) -> bool {
    BENIGN.with(address, |_| ()).is_some()
}

pub fn expect(address: usize, size: usize) {
    EXPECTED.add(address, size);
}

/// The beginning of the range on which a race is expected, or 0.
pub fn expects(address: usize) -> u64 {
    EXPECTED.with(address, |r| r.start as u64).unwrap_or(0)
}

/// Whether a race is expected here and has not been seen yet.
pub fn is_awaited(address: usize) -> bool {
    EXPECTED.with(address, |r| !core::mem::replace(&mut r.seen, true)).unwrap_or(false)
}

/// The memory was freed, so its annotations no longer hold.
pub fn forget(address: usize, size: usize) {
    BENIGN.forget(address, address + size);
}

pub fn reset_lock() {
    LOCK.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_and_forgotten_however_many_and_however_long() {
        let base = 0x7e00_0000_0000;
        for i in 0..20_000 {
            benign(base + i * 128 + 60, 8);
        }
        benign(base + (1 << 30), 1 << 20);
        for i in (0..20_000).step_by(997) {
            let at = base + i * 128;
            let found = [at + 59, at + 60, at + 64, at + 67, at + 68].map(is_benign);
            assert_eq!(found, [false, true, true, true, false]);
        }
        assert!(is_benign(base + (1 << 30) + 500_000) && !is_benign(base + (1 << 30) + (1 << 20)));
        forget(base, 10_000 * 128);
        assert!(!is_benign(base + 60) && is_benign(base + 10_000 * 128 + 60));
        // One block contains the whole range, and one lies within a long range.
        forget(base + (1 << 30) + 4096, 4096);
        assert!(is_benign(base + (1 << 30)));
        forget(base, 1 << 31);
        assert!(!is_benign(base + (1 << 30)) && !is_benign(base + 19_999 * 128 + 60));
    }

    #[test]
    fn an_expected_race_is_awaited_once() {
        let at = 0x7e80_0000_0000;
        expect(at, 4);
        assert_eq!((expects(at + 3), expects(at + 4)), (at as u64, 0));
        assert!(is_awaited(at) && !is_awaited(at + 1));
    }
}
