//! Where the shadow lives and what a shadow word means.
//!
//! An 8-byte **granule** of the target has four **slots** of 32 bits: the access mask (bits 0..8,
//! one for each byte of the granule), the thread's slot number *sid* (8..16), its epoch (16..30),
//! READ (30), ATOMIC (31). Zero is an empty slot.
//!
//! The mapping drops the top four bits of a 48-bit address before scaling. Programs live in three
//! places, which differ in the remaining bits: executables at a fixed address (from 0),
//! position-independent ones (0x555…), and the mmap area with the stack (0x7ff…). This holds as
//! long as the kernel randomises by no more than 28 bits. The driver turns randomisation off where
//! it may, and [`crate::hub::init`] checks.

use core::ops::Range;

pub const SLOTS: usize = 4;
pub const READ: u32 = 1 << 30;
pub const ATOMIC: u32 = 1 << 31;
/// The last epoch of a sid. It is one less than fits, so that no slot is ever all ones.
pub const EPOCH_MAX: u32 = (1 << 14) - 2;
/// Sids are 1..=SID_MAX; 255 marks shared cache lines in fast mode.
pub const SID_MAX: usize = 254;

pub const fn sid(slot: u32) -> usize {
    (slot >> 8) as usize & 0xff
}

pub const fn epoch(slot: u32) -> u32 {
    slot >> 16 & 0x3fff
}

/// A slot's sid and epoch, without mask and flags.
pub const fn state(sid: usize, epoch: u32) -> u32 {
    (sid as u32) << 8 | epoch << 16
}

/// Fast mode and the initialization state: lane 3 of a granule that only one sid has touched. No
/// real epoch is 0.
pub const fn owned(sid: usize) -> u32 {
    0xff | (sid as u32) << 8
}

/// Fast mode and the initialization state: lane 3 of a granule that two threads have touched, or
/// whose line they have.
pub const SHARED: u32 = 255 << 8;

/// A granule of a freed block. No thread has seen this epoch, so each access takes the slow path.
/// The next lane has the sid and epoch of the thread that freed the block, with an empty mask.
pub const FREED: u32 = 0xff | 255 << 8 | EPOCH_MAX << 16;

const ADDRESS: usize = 0x0fff_ffff_ffff;

pub const SHADOW: Range<usize> = 0x1000_0000_0000..0x3000_0000_0000;
const SYNC_BITS: Range<usize> = 0x3040_0000_0000..0x3040_0000_0000 + (1 << 38);
const BLOCK_PAGES: Range<usize> = 0x3080_0000_0000..0x3080_0000_0000 + (1 << 29);
const BLOCK_INFO: Range<usize> = 0x3100_0000_0000..0x3900_0000_0000;

/// Two bytes for each granule: see `trace::shared`.
pub const OWNERS: Range<usize> = 0x3a00_0000_0000..0x3a00_0000_0000 + (1 << 42);

/// Also two bytes for each granule: which of its bytes have been written.
pub const WRITTEN: Range<usize> = OWNERS.end..OWNERS.end + (1 << 42);

/// All ranges to reserve.
pub const RESERVED: [Range<usize>; 6] = [SHADOW, SYNC_BITS, BLOCK_PAGES, BLOCK_INFO, OWNERS, WRITTEN];

/// The granule's slots.
#[inline(always)]
pub const fn shadow_of(address: usize) -> *mut u8 {
    ((address & ADDRESS & !7) * 2 + SHADOW.start) as *mut u8
}

/// A bit for each 8 bytes: set if a synchronisation object is there.
#[inline(always)]
pub const fn sync_bit(address: usize) -> (*mut u64, u64) {
    bit(SYNC_BITS.start, (address & ADDRESS) >> 3)
}

const fn bit(base: usize, index: usize) -> (*mut u64, u64) {
    ((base + index / 64 * 8) as *mut u64, 1 << (index % 64))
}

/// A bit for each 4096 bytes: set if a heap block starts there, or did.
#[inline(always)]
pub const fn block_page(address: usize) -> (*mut u64, u64) {
    bit(BLOCK_PAGES.start, (address & ADDRESS) >> 12)
}

/// Eight bytes about the heap block that starts at `address`.
#[inline(always)]
pub const fn block_info(address: usize) -> *mut u64 {
    (BLOCK_INFO.start + ((address & ADDRESS) >> 4) * 8) as *mut u64
}

/// The owner of the granule, in a traced run.
#[inline(always)]
pub const fn owner_of(address: usize) -> *mut u16 {
    (OWNERS.start + ((address & ADDRESS) >> 3) * 2) as *mut u16
}

/// When the granule's bytes were written, and which of them.
#[inline(always)]
pub const fn written_of(address: usize) -> *mut u16 {
    (WRITTEN.start + ((address & ADDRESS) >> 3) * 2) as *mut u16
}

/// Whether memory at `address` can have shadow of its own, given the kinds of addresses that the
/// module documentation names.
pub const fn is_watchable(address: usize) -> bool {
    address < 0x1000_0000_0000
        || (address >= 0x5000_0000_0000 && address < 0x6000_0000_0000)
        || (address >= 0x7000_0000_0000 && address < 0x8000_0000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_places_of_a_program_have_disjoint_shadow_inside_the_reservation() {
        let places =
            [0x40_0000..0x8000_0000, 0x5555_5555_4000..0x5656_0000_0000, 0x7e00_0000_0000..0x7fff_ffff_f000];
        let mut spans: Vec<_> =
            places.iter().map(|p| shadow_of(p.start) as usize..shadow_of(p.end) as usize).collect();
        spans.sort_by_key(|s| s.start);
        assert!(spans.windows(2).all(|w| w[0].end <= w[1].start));
        assert!(spans.iter().all(|s| SHADOW.start <= s.start && s.end <= SHADOW.end));
    }

    #[test]
    fn reservations_do_not_overlap_each_other_or_watchable_memory() {
        let mut r = RESERVED.to_vec();
        r.sort_by_key(|r| r.start);
        assert!(r.windows(2).all(|w| w[0].end <= w[1].start));
        assert!(r.iter().all(|r| !is_watchable(r.start) && !is_watchable(r.end - 1)));
    }

    #[test]
    fn slots_keep_their_parts_apart() {
        let s = state(254, EPOCH_MAX) | 0x80 | READ | ATOMIC;
        assert_eq!((sid(s), epoch(s)), (254, EPOCH_MAX));
        assert_ne!(s | 0xff, u32::MAX);
    }
}
