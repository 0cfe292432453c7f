//! Which heap block an address lies in, and who allocated it.
//!
//! Each 16 bytes of memory have eight bytes of information. These hold the thread and the stack of
//! the allocation where a block starts, and zero elsewhere. A bit for each page says whether to
//! look there at all: a global has no block, and the search for one must not go through a gigabyte
//! of zeros. The target keeps its own allocator; a report asks it for the size of a block.

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use core::sync::atomic::{AtomicU64, Ordering::*};

use crate::layout::{block_info, block_page, is_watchable};

/// The search for a block goes back no farther than this.
const FARTHEST: usize = 1 << 30;

#[derive(Clone, Copy)]
pub struct HeapBlock {
    pub start: usize,
    pub thread: u32,
    pub stack: u32,
}

fn info(address: usize) -> &'static AtomicU64 {
    // SAFETY: the infos of all watchable memory are reserved.
    unsafe { AtomicU64::from_ptr(block_info(address)) }
}

fn page(address: usize) -> (&'static AtomicU64, u64) {
    let (word, bit) = block_page(address);
    // SAFETY: as for the infos.
    (unsafe { AtomicU64::from_ptr(word) }, bit)
}

#[inline]
pub fn allocated(address: usize, thread: u32, stack: u32) {
    if is_watchable(address) {
        info(address).store((thread as u64 + 1) << 32 | stack as u64, Relaxed);
        let (word, bit) = page(address);
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }
}

#[inline]
pub fn freed(address: usize) {
    if is_watchable(address) {
        info(address).store(0, Relaxed);
    }
}

/// [`freed`] will be called for this address soon.
#[inline]
pub fn prefetch(address: usize) {
    if is_watchable(address) {
        // SAFETY: a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block_info(address).cast()) };
    }
}

/// Marks a freed block whose information is kept.
const GIVEN_BACK: u64 = 1 << 63;

/// Marks the block as quarantined. False if it is unknown, or quarantined already.
pub fn set_freed(address: usize) -> bool {
    let known = |word: u64| (word != 0 && word & GIVEN_BACK == 0).then_some(word | GIVEN_BACK);
    is_watchable(address) && info(address).fetch_update(Relaxed, Relaxed, known).is_ok()
}

/// True if the block is in quarantine.
#[inline]
pub fn is_freed(address: usize) -> bool {
    is_watchable(address) && info(address).load(Relaxed) & GIVEN_BACK != 0
}

/// The block that starts at or before `address`. The caller compares its size to see whether it
/// contains `address`.
pub fn find(address: usize) -> Option<HeapBlock> {
    const PAGE: usize = 4096;
    let mut last = address & !15;
    while is_watchable(last) && address - last <= FARTHEST {
        let (word, bit) = page(last);
        let bits = word.load(Relaxed);
        if bits & bit != 0 {
            let mut start = last;
            loop {
                let word = info(start).load(Relaxed) & !GIVEN_BACK;
                if word != 0 {
                    return Some(HeapBlock { start, thread: (word >> 32) as u32 - 1, stack: word as u32 });
                }
                if start.is_multiple_of(PAGE) {
                    break;
                }
                start -= 16;
            }
        }
        // Continue at the end of the previous page, or of the previous 64 pages if these have no
        // blocks.
        let step = if bits == 0 { 64 * PAGE } else { PAGE };
        last = (last & !(step - 1)).checked_sub(16)?;
    }
    None
}

#[cfg(all(test, panic = "unwind"))]
mod tests {
    use super::*;
    use crate::detect::testing::reserve_shadow;

    #[test]
    fn a_block_is_found_from_anywhere_in_it_and_far_from_it() {
        reserve_shadow();
        let base = 0x7abc_0000_0000;
        assert!(find(base + 123).is_none());
        allocated(base + 0x2340, 6, 77);
        for at in [0, 1, 15, 16, 4096, 1 << 20, (1 << 30) - 0x4000] {
            let block = find(base + 0x2340 + at).unwrap();
            assert_eq!((block.start, block.thread, block.stack), (base + 0x2340, 6, 77), "{at:x}");
        }
        assert!(find(base + 0x2330).is_none(), "before it");
        assert!(find(base + (1 << 31)).is_none(), "too far");
        // A nearer one, in the same page and in another.
        allocated(base + 0x2380, 1, 1);
        allocated(base + 0x9000, 2, 2);
        assert_eq!(find(base + 0x2400).map(|b| b.start), Some(base + 0x2380));
        assert_eq!(find(base + 0x9fff).map(|b| b.start), Some(base + 0x9000));
        freed(base + 0x9000);
        assert_eq!(find(base + 0x9fff).map(|b| b.start), Some(base + 0x2380));
    }
}
