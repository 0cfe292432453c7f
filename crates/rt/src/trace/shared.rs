//! Which memory more than one thread touches, by granules of 8 bytes. It is kept in the detector's shadow, which
//! has no other use while a program is explored, and which no snapshot puts back: so what one execution learns the next knows.

use core::sync::atomic::{AtomicU32, Ordering::*};

use crate::explore;
use crate::layout::shadow_of;

/// The first word of a granule's shadow: the thread that touched it, plus 1, or this.
const SHARED: u32 = 1 << 31;

fn word(address: usize, i: usize) -> &'static AtomicU32 {
    // SAFETY: shadow is mapped and aligned.
    unsafe { &*shadow_of(address).cast::<AtomicU32>().add(i) }
}

#[inline]
pub fn learn(address: usize) {
    let me = explore::state().current as u32 + 1;
    let owner = word(address, 0);
    match owner.load(Relaxed) {
        0 => owner.store(me, Relaxed),
        o if o == me || o == SHARED => {}
        _ => owner.store(SHARED, Relaxed),
    }
}

/// A block is given back, which is as good as writing to it. Of a large one the beginning tells enough.
pub fn learn_block(from: usize, to: usize) {
    const LARGEST: usize = 1 << 16;
    for address in (from..to.min(from + LARGEST)).step_by(8) {
        learn(address);
    }
}

#[inline]
pub fn is_shared(address: usize) -> bool {
    word(address, 0).load(Relaxed) == SHARED
}

/// Is this the first write to one of these bytes in this execution? Beside the bytes written the number of the execution is kept, so
/// nothing need be cleared.
#[inline]
pub fn is_first(address: usize, size: usize, execution: u32) -> bool {
    let bytes = (0xffu32 >> (8 - size.min(8))) << (address & 7);
    let (last, written) = (word(address, 1), word(address, 2));
    if last.swap(execution, Relaxed) != execution {
        written.store(bytes, Relaxed);
        return true;
    }
    written.fetch_or(bytes, Relaxed) & bytes != bytes
}
