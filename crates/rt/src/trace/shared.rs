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

#[inline]
pub fn is_shared(address: usize) -> bool {
    word(address, 0).load(Relaxed) == SHARED
}

/// Is this the first write to the granule in this execution? The last one's number is kept, so nothing need be cleared.
#[inline]
pub fn is_first(address: usize, execution: u32) -> bool {
    word(address, 1).swap(execution, Relaxed) != execution
}
