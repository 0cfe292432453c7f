//! Whether copied loops may be checked as they are left, and not in each iteration: see
//! `raddle_relocate::loops`.
//!
//! No synchronisation may lie between an access and its check. A handler of a signal may bring
//! some, and so may an access of up to 8 bytes to a variable that some copied code treats as an
//! atomic one.
//!
//! Nor is it worth it for loops of few iterations. [`count`] finds them.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::table;
use raddle_wire::relocated::{RelocatedHeader, slot};

static ATOMICS: AtomicBool = AtomicBool::new(false);
static HANDLERS: AtomicBool = AtomicBool::new(false);

/// For a copy that nobody executes yet, and for those that are there.
pub fn decide(h: &mut RelocatedHeader) {
    if h.slots[slot::ATOMICS] != 0 {
        ATOMICS.store(true, Relaxed);
        table::all().for_each(|o| clear(o.header, slot::LATE));
    }
    let vectors = !HANDLERS.load(Relaxed);
    h.slots[slot::LATE_VECTORS] = u64::from(vectors);
    h.slots[slot::LATE] = u64::from(vectors && !ATOMICS.load(Relaxed));
}

/// The program has a handler of a signal, from now on.
pub fn stop() {
    if !HANDLERS.swap(true, Relaxed) {
        table::all().for_each(|o| {
            clear(o.header, slot::LATE);
            clear(o.header, slot::LATE_VECTORS);
        });
    }
}

/// A loop has been left, and touched so many bytes after those of its first iteration.
pub fn count(pc: usize, number: usize, distance: isize) {
    const SHORT: isize = 64;
    const LONG: isize = 1024;
    if (SHORT..LONG).contains(&distance) {
        return;
    }
    let Some(object) = table::with_code(pc) else { return };
    let h = &raw const *object.header as usize;
    let at = (h + object.header.short() as usize + 4 * number) as *mut u32;
    // SAFETY: an entry of a table of the file, which is a private mapping that stays writable.
    let times = unsafe { AtomicU32::from_ptr(at) };
    let before = times.load(Relaxed);
    if distance < SHORT {
        times.store(before.saturating_add(1), Relaxed);
    } else if before > 0 {
        times.store(before.saturating_sub(8), Relaxed);
    }
}

fn clear(h: &RelocatedHeader, slot: usize) {
    let at = (&raw const h.slots[slot]).cast_mut();
    // SAFETY: the header is a private mapping that stays writable, and copied code only reads it.
    unsafe { AtomicU64::from_ptr(at).store(0, Relaxed) };
}
