//! Freed blocks, held back for a while before the C library gets them.
//!
//! A block that is reused at once looks new, and an access through an old pointer goes unnoticed.
//! So a block that instrumented code frees waits here, marked as freed in its shadow
//! ([`range::mark_freed`](super::range::mark_freed)), until enough others have been freed after it.
//! Meanwhile each access to it comes after `free`: it is a data race if nothing orders the two, and
//! a use after free if something does.
//!
//! The quarantine is bounded by blocks and by bytes, in [`SHARDS`] rings so that threads seldom
//! contend for a lock: 4,096 blocks and 16 MiB in all. A block of more than [`LARGEST`] bytes does
//! not wait: the C library gives most of those back to the system, and a later access crashes by
//! itself. What such a block was is remembered for the report of that access, which is the same bug
//! as an access just before `free` ([`large_at`]). Forgetting a block hides a use after free but
//! cannot invent one: its marks go when the C library hands the memory out again.

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::heap::{self, HeapBlock};
use super::thread::Thread;
use crate::sys::{Shared, Spin};

const SHARDS: usize = 16;
/// Limits of each shard.
const BLOCKS: usize = 256;
const BYTES: usize = 1 << 20;
pub const LARGEST: usize = 64 << 10;
/// The number of blocks released under one lock.
const AT_ONCE: usize = 16;

#[derive(Clone, Copy)]
struct Block {
    start: usize,
    len: usize,
}

/// The oldest is at `first`.
struct Ring {
    of: [Block; BLOCKS],
    first: usize,
    n: usize,
    bytes: usize,
}

struct Shard {
    lock: Spin,
    ring: Shared<Ring>,
}

const EMPTY: Ring = Ring { of: [Block { start: 0, len: 0 }; BLOCKS], first: 0, n: 0, bytes: 0 };
static QUARANTINE: [Shard; SHARDS] =
    [const { Shard { lock: Spin::new(), ring: Shared::new(EMPTY) } }; SHARDS];

impl Ring {
    fn push(&mut self, block: Block) {
        self.of[(self.first + self.n) % BLOCKS] = block;
        self.n += 1;
        self.bytes += block.len;
    }

    /// The oldest block, if there are too many.
    fn pop_surplus(&mut self) -> Option<Block> {
        if self.n < BLOCKS && self.bytes <= BYTES {
            return None;
        }
        let oldest = self.of[self.first];
        self.first = (self.first + 1) % BLOCKS;
        self.n -= 1;
        self.bytes -= oldest.len;
        Some(oldest)
    }

    /// Prefetches what releasing the next block will read and write. The block was freed long ago;
    /// this brings it into the cache in time.
    fn prefetch_oldest(&self) {
        let start = self.of[self.first].start;
        heap::prefetch(start);
        // SAFETY: a hint, whatever the address; the C library's header is in front of the block.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_sub(16) as *const i8) };
    }

    /// Takes a block out and leaves its place empty.
    fn remove(&mut self, start: usize) -> bool {
        let at = (0..self.n).map(|i| (self.first + i) % BLOCKS).find(|i| self.of[*i].start == start);
        if let Some(at) = at {
            self.bytes -= self.of[at].len;
            self.of[at] = Block { start: 0, len: 0 };
        }
        at.is_some()
    }
}

/// Holds back a block of `len` bytes that `t` has just freed, and passes older ones to `release`.
/// False if the block is unknown, or another thread frees it too.
pub fn keep(t: &mut Thread, start: usize, len: usize, release: impl Fn(usize)) -> bool {
    if !heap::set_freed(start) {
        return false;
    }
    let shard = &QUARANTINE[t.id() as usize % SHARDS];
    let mut block = Some(Block { start, len });
    loop {
        let mut old = [0; AT_ONCE];
        let mut n = 0;
        {
            let _inside = t.enter();
            let _guard = shard.lock.lock();
            // SAFETY: the lock is held.
            let ring = unsafe { &mut *shard.ring.get() };
            while n < AT_ONCE
                && let Some(oldest) = ring.pop_surplus()
            {
                if oldest.start != 0 {
                    heap::freed(oldest.start);
                    old[n] = oldest.start;
                    n += 1;
                }
            }
            if n < AT_ONCE
                && let Some(new) = block.take()
            {
                ring.push(new);
            }
            ring.prefetch_oldest();
        }
        old[..n].iter().for_each(|p| release(*p));
        if block.is_none() {
            return true;
        }
    }
}

/// Removes a block that is freed a second time. False if it is not in quarantine.
#[cold]
pub fn take_back(start: usize) -> bool {
    QUARANTINE.iter().any(|shard| {
        let _guard = shard.lock.lock();
        // SAFETY: the lock is held.
        unsafe { (*shard.ring.get()).remove(start) }
    })
}

/// The number of freed large blocks that are remembered.
const LARGE: usize = 64;

/// The last large blocks that were freed: the block and its length, the next place first.
struct Large {
    of: [(HeapBlock, usize); LARGE],
    next: usize,
}

static LARGE_LOCK: Spin = Spin::new();
static LARGE_BLOCKS: Shared<Large> =
    Shared::new(Large { of: [(HeapBlock { start: 0, thread: 0, stack: 0 }, 0); LARGE], next: 0 });

/// Remembers a large block that `t` frees. Its information is still there.
pub fn remember_large(t: &mut Thread, start: usize, len: usize) {
    let Some(block) = heap::find(start).filter(|block| block.start == start) else { return };
    let _inside = t.enter();
    let _guard = LARGE_LOCK.lock();
    // SAFETY: the lock is held.
    let large = unsafe { &mut *LARGE_BLOCKS.get() };
    large.of[large.next] = (block, len);
    large.next = (large.next + 1) % LARGE;
}

/// The large block that was freed last of those that had `address`, and its length.
pub fn large_at(address: usize) -> Option<(HeapBlock, usize)> {
    let _guard = LARGE_LOCK.lock();
    // SAFETY: the lock is held.
    let large = unsafe { &*LARGE_BLOCKS.get() };
    let newest_first = (1..=LARGE).map(|i| large.of[(large.next + LARGE - i) % LARGE]);
    newest_first.into_iter().find(|(block, len)| (block.start..block.start + len).contains(&address))
}

/// In the child of a fork.
pub fn reset_locks() {
    LARGE_LOCK.reset();
    QUARANTINE.iter().for_each(|shard| shard.lock.reset());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_only_when_there_are_too_many() {
        let mut ring = EMPTY;
        for i in 1..=BLOCKS {
            assert!(ring.pop_surplus().is_none());
            ring.push(Block { start: i, len: 16 });
        }
        assert_eq!(ring.pop_surplus().map(|b| b.start), Some(1));
        assert!(ring.pop_surplus().is_none());
        ring.push(Block { start: 1000, len: BYTES });
        assert_eq!(ring.pop_surplus().map(|b| b.start), Some(2), "too many bytes");
    }

    #[test]
    fn a_block_is_taken_out_once() {
        let mut ring = EMPTY;
        ring.push(Block { start: 7, len: 100 });
        ring.push(Block { start: 8, len: 100 });
        assert!(ring.remove(7) && !ring.remove(7) && ring.bytes == 100 && ring.n == 2);
    }
}
