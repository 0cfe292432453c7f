//! Addresses on which races are benign, or expected.

use core::sync::atomic::{AtomicUsize, Ordering::*};

use crate::sys::{Shared, Spin};

const MOST: usize = 4096;

struct Ranges {
    of: [(usize, usize); MOST],
}

static LOCK: Spin = Spin::new();
static BENIGN: Shared<Ranges> = Shared::new(Ranges { of: [(0, 0); MOST] });
static BENIGN_N: AtomicUsize = AtomicUsize::new(0);
static EXPECTED: Shared<Ranges> = Shared::new(Ranges { of: [(0, 0); MOST] });
static EXPECTED_N: AtomicUsize = AtomicUsize::new(0);

fn add(ranges: &Shared<Ranges>, n: &AtomicUsize, address: usize, size: usize) {
    let _guard = LOCK.lock();
    let at = n.load(Relaxed);
    if at < MOST {
        // SAFETY: entries are written before the count says so, under LOCK.
        unsafe { (*ranges.get()).of[at] = (address, address + size) };
        n.store(at + 1, Release);
    }
}

fn find(ranges: &Shared<Ranges>, n: &AtomicUsize, address: usize) -> Option<usize> {
    // SAFETY: entries below the count do not change, but for `forget`, which makes them empty.
    let of = unsafe { &(&(*ranges.get()).of)[..n.load(Acquire)] };
    of.iter().find(|r| r.0 <= address && address < r.1).map(|r| r.0)
}

pub fn benign(address: usize, size: usize) {
    add(&BENIGN, &BENIGN_N, address, size);
}

pub fn is_benign(address: usize) -> bool {
    find(&BENIGN, &BENIGN_N, address).is_some()
}

pub fn expect(address: usize, size: usize) {
    add(&EXPECTED, &EXPECTED_N, address, size);
}

/// The beginning of the range on which a race is expected, or 0.
pub fn expects(address: usize) -> u64 {
    find(&EXPECTED, &EXPECTED_N, address).unwrap_or(0) as u64
}

/// The memory was freed: what was said of it no longer holds.
pub fn forget(address: usize, size: usize) {
    if BENIGN_N.load(Relaxed) == 0 {
        return;
    }
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let of = unsafe { &mut (&mut (*BENIGN.get()).of)[..BENIGN_N.load(Relaxed)] };
    for r in of.iter_mut().filter(|r| r.0 >= address && r.1 <= address + size) {
        *r = (0, 0);
    }
}

pub fn reset_lock() {
    LOCK.reset();
}
