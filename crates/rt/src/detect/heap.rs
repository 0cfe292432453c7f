//! Which heap block an address lies in, and who allocated it.
//!
//! Each 16 bytes of memory have eight of their own, which hold the thread and the stack of the allocation where a block
//! starts and zero elsewhere. The allocator stays the target's own: the size of a block is asked of it when a report
//! needs it.

use core::sync::atomic::{AtomicU64, Ordering::*};

use crate::layout::{block_info, is_watchable};

/// Blocks longer than this are not searched for from their far end.
const FARTHEST: usize = 1 << 30;

pub struct Block {
    pub start: usize,
    pub thread: u32,
    pub stack: u32,
}

fn info(address: usize) -> &'static AtomicU64 {
    // SAFETY: the infos of all watchable memory are reserved.
    unsafe { AtomicU64::from_ptr(block_info(address)) }
}

#[inline]
pub fn allocated(address: usize, thread: u32, stack: u32) {
    if is_watchable(address) {
        info(address).store((thread as u64 + 1) << 32 | stack as u64, Relaxed);
    }
}

#[inline]
pub fn freed(address: usize) {
    if is_watchable(address) {
        info(address).store(0, Relaxed);
    }
}

/// The block that starts at or before `address`. Whether it reaches that far is for its size to say.
pub fn find(address: usize) -> Option<Block> {
    let mut start = address & !15;
    while is_watchable(start) && address - start <= FARTHEST {
        let word = info(start).load(Relaxed);
        if word != 0 {
            return Some(Block { start, thread: (word >> 32) as u32 - 1, stack: word as u32 });
        }
        start = start.checked_sub(16)?;
    }
    None
}
