//! Which memory more than one thread touches, by granules of 8 bytes. It is kept in the detector's shadow, which
//! has no other use while a program is explored, and which no snapshot puts back: so what one execution learns the next knows.
//!
//! **Most memory is one thread's own, and costs next to nothing.** The owner is written as the detector writes a segment, and the thread's
//! vectors are set to match it ([`pass_by_own`]), so the hot half of a probe, ten instructions, sees that the granule is the thread's own
//! and returns. There is nothing to learn, nothing to record, and nothing to settle: a write that is pending is one to shared
//! memory, which the thread does not change in between. A block that is freed belongs to nobody again, so that use after free is
//! still seen.
//!
//! What a thread that has ended leaves to the one that joined it is not shared: no order of theirs can change what is read. The thread keeps
//! it in its name, since the next execution is likely to begin the same way.

use core::sync::atomic::{AtomicU32, Ordering::*};

use crate::detect::thread::Thread;
use crate::explore;
use crate::layout::{READ, shadow_of};

/// The first word of a granule's shadow: whose it is ([`own`]), or this.
const SHARED: u32 = 1 << 31;

/// A granule of the thread, with all its bytes, as a slot: the low byte has the bytes, the next the kinds of access.
const fn own(thread: u32) -> u32 {
    (thread + 1) << 16 | 0xff
}

fn word(address: usize, i: usize) -> &'static AtomicU32 {
    // SAFETY: shadow is mapped and aligned.
    unsafe { &*shadow_of(address).cast::<AtomicU32>().add(i) }
}

#[inline]
pub fn learn(address: usize) {
    let me = own(explore::state().current as u32);
    let owner = word(address, 0);
    match owner.load(Relaxed) {
        0 => owner.store(me, Relaxed),
        o if o == me || o == SHARED => {}
        o if explore::threads::has_joined(explore::state().current, (o >> 16) as usize - 1) => {}
        _ => owner.store(SHARED, Relaxed),
    }
}

/// A block is given back, which is as good as writing to it; what was the thread's own is nobody's from now on. Of a large
/// one the beginning tells enough. `learns`: whether that it is shared is to be found out.
pub fn give_back(from: usize, to: usize, learns: bool) {
    const LARGEST: usize = 1 << 16;
    for address in (from..to.min(from + LARGEST)).step_by(8) {
        if learns {
            learn(address);
        }
        let owner = word(address, 0);
        if owner.load(Relaxed) != SHARED {
            owner.store(0, Relaxed);
        }
    }
}

/// The probes of this thread pass by what is its own.
#[inline]
pub fn pass_by_own(t: &mut Thread) {
    let me = own(explore::state().current as u32);
    if t.hot_write8[0] != me {
        t.hot[0] = me & !0xff;
        t.hot_write8[0] = me;
        t.hot_read8[0] = me | READ;
    }
}

/// Memory that is nobody's becomes the thread's own; what is shared stays it.
#[inline]
pub fn take(address: usize) {
    let owner = word(address, 0);
    if owner.load(Relaxed) == 0 {
        owner.store(own(explore::state().current as u32), Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As the hot halves of the probes compare (see `tsan_abi::access`), for `bytes` of the granule.
    fn passes(slot: u32, hot: u32, bytes: u32, write: bool) -> bool {
        let counts = bytes | if write { !0xff } else { !(0xff | READ) };
        (slot ^ bytes ^ hot) & counts == 0
    }

    #[test]
    fn a_probe_passes_by_its_own_threads_memory_only() {
        let hot = own(3) & !0xff;
        for bytes in [0x01, 0x80, 0x0c, 0xf0] {
            for write in [false, true] {
                assert!(passes(own(3), hot, bytes, write));
                for other in [own(2), own(4), 0, SHARED] {
                    assert!(!passes(other, hot, bytes, write), "{other:#x}");
                }
            }
        }
        assert_eq!(own(3) & READ, 0, "the kind of access is no part of it");
        assert!(own(raddle_explore::MAX_THREADS as u32) < SHARED);
    }
}
