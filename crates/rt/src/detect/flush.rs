//! Forgetting: the shadow is emptied when memory runs short or sids run out (6.2.1).
//!
//! No thread is stopped. Clocks kept with synchronisation objects go first, the shadow second. An
//! access recorded before the shadow is emptied is forgotten whatever its release did; one recorded
//! after is released after too, into an object that nobody empties any more. In between, a thread
//! may lack an order that was forgotten and still meet the access: what is found while a flush is
//! under way is not reported ([`sequence`]). So a flush can hide a race but not invent one.
//!
//! A probe reads a granule and writes it back whole. One that was preempted in between may put back
//! slots from before the flush, whose order is forgotten. They are known by their epochs
//! ([`is_leftover`]).

use core::sync::atomic::{AtomicU16, AtomicU32, Ordering::*};

use super::{object_clock, objects, sids};
use crate::layout::{SHADOW, SID_MAX, epoch, sid};
use crate::sys::{self, Spin};

static LOCK: Spin = Spin::new();
/// Odd while a flush is under way.
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// What was found between two equal, even values was not found for lack of something just
/// forgotten.
pub fn sequence() -> u32 {
    SEQUENCE.load(Acquire)
}

/// The last epoch that each sid had handed over when clocks were last forgotten.
static FLOOR: [AtomicU16; SID_MAX + 1] = [const { AtomicU16::new(0) }; SID_MAX + 1];

/// Is this slot one from before the last flush, put back by a probe that the flush overtook?
///
/// An access of an epoch that was handed over before is forgotten: its thread has left the epoch.
/// One of a later epoch stays, since the order it has with others is still to come. A sid that has
/// started over makes no access in an epoch that it has not come to yet.
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
    let passed = object_clock::passed_unseen();
    objects::forget_clocks();
    // What was handed to a clock that is forgotten was noted as published before.
    note_floors(&retired);
    object_clock::trust_stamps(passed);
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
