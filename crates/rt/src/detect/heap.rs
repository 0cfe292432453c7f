//! Which heap block an address lies in, and who allocated it.
//!
//! A bit for each 16 bytes says where blocks start; eight bytes at the same scale hold the stack and thread of the
//! allocation. The allocator stays the target's own: the size of a block is asked of it when a report needs it.

use core::sync::atomic::{AtomicU64, Ordering::*};

use crate::layout::{block_bit, block_info, is_watchable};

/// Blocks longer than this are not searched for from their far end.
const FARTHEST: usize = 1 << 30;

pub struct Block {
    pub start: usize,
    pub thread: u32,
    pub stack: u32,
}

fn word(p: *mut u64) -> &'static AtomicU64 {
    // SAFETY: the bits and infos of all watchable memory are reserved.
    unsafe { AtomicU64::from_ptr(p) }
}

#[inline]
pub fn allocated(address: usize, thread: u32, stack: u32) {
    if is_watchable(address) {
        let (at, mask) = block_bit(address);
        word(at).fetch_or(mask, Relaxed);
        word(block_info(address)).store((thread as u64) << 32 | stack as u64, Relaxed);
    }
}

#[inline]
pub fn freed(address: usize) {
    if is_watchable(address) {
        let (at, mask) = block_bit(address);
        word(at).fetch_and(!mask, Relaxed);
    }
}

/// The block that starts at or before `address`. Whether it reaches that far is for its size to say.
pub fn find(address: usize) -> Option<Block> {
    if !is_watchable(address) {
        return None;
    }
    let (mut at, mask) = block_bit(address);
    let mut bits = word(at).load(Relaxed) & (mask | (mask - 1));
    // The first byte whose bit lies in the word `at`.
    let mut base = address & !1023;
    while bits == 0 {
        if address - base > FARTHEST || base < 1024 {
            return None;
        }
        at = at.wrapping_sub(1);
        base -= 1024;
        bits = word(at).load(Relaxed);
    }
    let start = base + (63 - bits.leading_zeros() as usize) * 16;
    let info = word(block_info(start)).load(Relaxed);
    Some(Block { start, thread: (info >> 32) as u32, stack: info as u32 })
}
