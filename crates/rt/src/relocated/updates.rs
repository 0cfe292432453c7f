//! What an atomic update in a copy turned out to be.
//!
//! A compare-and-exchange that finds another value writes nothing, and its probe, which comes
//! before it, does not know yet. Nobody else runs until its thread comes to the next choice. If the
//! memory is the same then, the update was as good as a read.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::{explore, sys};

/// An address of 0: no update is pending.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static LEN: AtomicUsize = AtomicUsize::new(0);
static STEP: AtomicUsize = AtomicUsize::new(0);
static OLD: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// The longest is `cmpxchg16b`.
const WORDS: usize = 2;

/// The running thread is about to update this memory, after its step was chosen.
pub fn begins(address: usize, len: usize) {
    let len = len.min(8 * WORDS);
    let Some(old) = words(address, len) else { return };
    OLD.iter().zip(old).for_each(|(to, from)| to.store(from, Relaxed));
    LEN.store(len, Relaxed);
    STEP.store(explore::step_of_atomic(), Relaxed);
    ADDRESS.store(address, Relaxed);
}

/// The running thread comes to its next choice, or to its end.
#[inline]
pub fn settle() {
    let address = ADDRESS.load(Relaxed);
    if address != 0 {
        settle_pending(address);
    }
}

#[cold]
fn settle_pending(address: usize) {
    ADDRESS.store(0, Relaxed);
    let old = OLD.each_ref().map(|word| word.load(Relaxed));
    if words(address, LEN.load(Relaxed)) == Some(old) {
        explore::left_unchanged(STEP.load(Relaxed));
    }
}

/// A new execution begins.
pub fn forget() {
    ADDRESS.store(0, Relaxed);
}

/// `None` if the memory is gone, which its own thread may have seen to since.
fn words(address: usize, len: usize) -> Option<[u64; WORDS]> {
    let mut bytes = [0; 8 * WORDS];
    sys::copy_if_readable(address, &mut bytes[..len]).then(|| {
        let (words, _) = bytes.as_chunks::<8>();
        core::array::from_fn(|i| u64::from_ne_bytes(words[i]))
    })
}
