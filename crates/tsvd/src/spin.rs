//! Mutual exclusion in shared memory, for data that must not be torn: traps and the trap set.
//! Points that are not delayed seldom come here.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::Host;

/// Free when zero.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct Spin(AtomicU32);

/// Held until dropped.
pub(crate) struct SpinGuard<'a>(&'a Spin);

impl Spin {
    pub(crate) fn hold(&self, host: &mut impl Host) -> SpinGuard<'_> {
        while self.0.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
            host.relax();
        }
        SpinGuard(self)
    }

    /// For the child of a fork: its holder does not exist there.
    pub(crate) fn break_open(&self) {
        self.0.store(0, Release);
    }
}

impl Drop for SpinGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Release);
    }
}
