//! Flushes: emptying the shadow when memory runs short or sids run out (6.2.1).
//!
//! No thread is stopped. A flush empties the clocks of synchronisation objects first and the shadow
//! second. An access recorded before the shadow is emptied is forgotten, whatever its release did.
//! An access recorded later is also released later, into an object that is not emptied any more. In
//! between, a thread may lack a forgotten order and still meet the access; so races found during a
//! flush are not reported ([`sequence`]). A flush can hide a race but not invent one.
//!
//! A probe reads a granule and writes it back whole. If it is preempted in between, it may put back
//! slots from before the flush, whose order is forgotten. Their epochs give them away
//! ([`is_leftover`]).

use core::sync::atomic::{AtomicU16, AtomicU32, Ordering::*};

use super::{object_clock, objects, sids};
use crate::layout::{SHADOW, SID_MAX, epoch, sid};
use crate::sys::{self, Spin};

static LOCK: Spin = Spin::new();
/// Odd while a flush is under way.
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// A race found between two equal, even values was not caused by a flush.
pub fn sequence() -> u32 {
    SEQUENCE.load(Acquire)
}

/// The last epoch that each sid had handed over when clocks were last forgotten.
static FLOOR: [AtomicU16; SID_MAX + 1] = [const { AtomicU16::new(0) }; SID_MAX + 1];

/// True if this slot is from before the last flush and a probe that the flush overtook has put it
/// back.
///
/// An access in an epoch that was already handed over is forgotten: its thread has left the epoch.
/// An access in a later epoch stays, since its order with others is still to come. A sid that has
/// started over makes no access in an epoch that it has not reached yet.
pub fn is_leftover(slot: u32) -> bool {
    let (sid, epoch) = (sid(slot), epoch(slot));
    FLOOR.get(sid).is_some_and(|f| epoch <= f.load(Relaxed) as u32) || !sids::has_reached(sid, epoch)
}

fn note_floors(retired: &sids::Retired) {
    for sid in 1..=SID_MAX {
        let floor = if retired[sid].is_some() { 0 } else { sids::last_published(sid) };
        FLOOR[sid].store(floor as u16, Relaxed);
    }
}

/// The last of the driver's requests that was served.
static SERVED: AtomicU32 = AtomicU32::new(0);

pub fn flush() {
    let before = sids::GENERATION.load(Acquire);
    let _guard = LOCK.lock();
    if sids::GENERATION.load(Acquire) != before {
        // Another thread has just flushed.
        return;
    }
    SEQUENCE.fetch_add(1, AcqRel);
    let retired = sids::retired();
    let passed = object_clock::passed_unseen();
    objects::forget_clocks();
    // An epoch handed to a clock that is forgotten was published before.
    note_floors(&retired);
    object_clock::trust_stamps(passed);
    sys::discard(SHADOW.start, SHADOW.len());
    sids::recycle(&retired);
    SEQUENCE.fetch_add(1, AcqRel);
    crate::hub::log::count_flush();
}

/// Flushes if the driver, which watches the target's memory, has asked for it.
#[inline]
pub fn if_requested() {
    let wanted = crate::hub::flush_request();
    if wanted != SERVED.load(Relaxed) && SERVED.swap(wanted, Relaxed) != wanted {
        flush();
    }
}

pub fn reset_lock() {
    LOCK.reset();
    // Another thread of the parent may have been flushing.
    let odd = SEQUENCE.load(Relaxed) & 1;
    SEQUENCE.fetch_add(odd, Relaxed);
}
