//! Forgetting: the shadow is emptied when memory runs short or sids run out (6.2.1).
//!
//! No thread is stopped. Clocks kept with synchronisation objects go first, the shadow second. An access recorded
//! before the shadow is emptied is forgotten whatever its release did; one recorded after is released after too, into
//! an object that nobody empties any more. In between, a thread may lack an order that was forgotten and still meet the
//! access: what is found while a flush is under way is not reported ([`sequence`]). So a flush can hide a race but not
//! invent one.

use core::sync::atomic::{AtomicU32, Ordering::*};

use super::{kept, objects, sids};
use crate::layout::SHADOW;
use crate::sys::{self, Spin};

static LOCK: Spin = Spin::new();
/// Odd while a flush is under way.
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// What was found between two equal, even values was not found for lack of something just forgotten.
pub fn sequence() -> u32 {
    SEQUENCE.load(Acquire)
}

/// The driver's last request that was served.
static SERVED: AtomicU32 = AtomicU32::new(0);

pub fn flush() {
    let before = sids::GENERATION.load(Acquire);
    let _guard = LOCK.lock();
    if sids::GENERATION.load(Acquire) != before {
        // Somebody else just did.
        return;
    }
    SEQUENCE.fetch_add(1, AcqRel);
    let retired = sids::retired();
    objects::forget_clocks();
    kept::trust_stamps();
    sys::discard(SHADOW.start, SHADOW.len());
    sids::recycle(&retired);
    SEQUENCE.fetch_add(1, AcqRel);
    crate::hub::log::count_flush();
}

/// The driver watches the memory of the target and asks.
#[inline]
pub fn if_requested() {
    let wanted = crate::hub::flush_request();
    if wanted != SERVED.load(Relaxed) && SERVED.swap(wanted, Relaxed) != wanted {
        flush();
    }
}

pub fn reset_lock() {
    LOCK.reset();
    // Another thread of the parent may have been at it.
    let odd = SEQUENCE.load(Relaxed) & 1;
    SEQUENCE.fetch_add(odd, Relaxed);
}
