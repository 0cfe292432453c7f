//! `--leaks`: heap blocks of the execution that nothing points to when the program ends.
//!
//! A leak is what LeakSanitizer and memcheck call lost: a block that was not freed and that cannot
//! be reached from the program's variables, from the stacks and thread-local storage of live
//! threads, or from reachable blocks. Whatever looks like an address in a block counts as one, so a
//! number may hide a leak but never invents one. Blocks from before the first thread are the same
//! in every schedule and count as reachable. Only executions that end by `exit` are checked: others
//! have no chance to free their memory.

use raddle_explore::races::CALLERS;
use raddle_wire::explore::{LEAKS, Leak, flag};

use super::{has, heap, snapshot, state, threads};
use crate::detect::thread::current;
use crate::handle::Handle;
use crate::sys;

const MOST: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Block {
    at: usize,
    size: usize,
    reached: bool,
    frames: [u64; 1 + CALLERS],
}

/// The blocks of an execution. Zeros are none.
pub struct Leaks {
    count: usize,
    blocks: [Block; MOST],
    /// Blocks that were reached but not scanned yet.
    waiting: [u32; MOST],
}

fn leaks() -> Option<Handle<Leaks>> {
    // SAFETY: null, or separate memory; one thread runs at a time.
    unsafe { Handle::or_none(state().leaks) }
}

/// At the start of the process.
pub fn prepare() {
    if has(flag::LEAKS) {
        state().leaks = sys::pages(size_of::<Leaks>()).cast();
    }
}

/// An execution begins.
pub fn begin() {
    if let Some(mut leaks) = leaks() {
        leaks.count = 0;
    }
}

/// A block of `size` bytes is allocated.
#[inline]
pub fn allocated(at: usize, size: usize) {
    if let Some(mut leaks) = leaks()
        && state().running
        && leaks.count < MOST
    {
        let t = current();
        let mut frames = [0; 1 + CALLERS];
        t.frames(t.caller, &mut frames);
        let count = leaks.count;
        leaks.blocks[count] = Block { at, size, reached: false, frames };
        leaks.count += 1;
    }
}

/// The program ends: puts what is lost into the slot.
pub fn look() {
    if let Some(mut leaks) = leaks() {
        leaks.keep_live();
        if leaks.count > 0 && leaks.count < MOST {
            leaks.reach();
            leaks.report();
        }
    }
}

impl Leaks {
    fn live(&mut self) -> &mut [Block] {
        &mut self.blocks[..self.count]
    }

    fn keep_live(&mut self) {
        let mut n = 0;
        for i in 0..self.count {
            if heap::is_live(self.blocks[i].at) {
                self.blocks[n] = self.blocks[i];
                n += 1;
            }
        }
        self.count = n;
        self.live().sort_unstable_by_key(|b| b.at);
    }

    /// Marks everything that can be reached.
    fn reach(&mut self) {
        let here = &raw const self as usize & !7;
        let mut waiting = 0;
        snapshot::each_written(here, |low, high| self.scan(low, high, &mut waiting));
        for i in 1..state().count {
            let at = if i == state().current { here } else { threads::stack_in_use(i) };
            for (low, high) in threads::memory_of(i, at) {
                self.scan(low, high, &mut waiting);
            }
        }
        let (low, high) = heap::before_execution();
        self.scan(low, high, &mut waiting);
        while waiting > 0 {
            waiting -= 1;
            let Block { at, size, .. } = self.blocks[self.waiting[waiting] as usize];
            self.scan(at, at + size, &mut waiting);
        }
    }

    /// Treats each word from `low` to `high` as a possible address.
    fn scan(&mut self, low: usize, high: usize, waiting: &mut usize) {
        for at in (low.next_multiple_of(8)..high.saturating_sub(7)).step_by(8) {
            // SAFETY: mapped memory of the program, or a block.
            let word = unsafe { (at as *const usize).read_volatile() };
            if heap::is_ours(word)
                && let Some(i) = self.block_of(word)
                && !self.blocks[i].reached
            {
                self.blocks[i].reached = true;
                self.waiting[*waiting] = i as u32;
                *waiting += 1;
            }
        }
    }

    /// The block that contains the address. The address just past its end counts: empty slices have
    /// it.
    fn block_of(&mut self, address: usize) -> Option<usize> {
        let i = self.live().partition_point(|b| b.at <= address).checked_sub(1)?;
        (address <= self.blocks[i].at + self.blocks[i].size).then_some(i)
    }

    fn report(&mut self) {
        let mut s = state();
        let slot = s.serve.slot();
        for block in self.live().iter().filter(|b| !b.reached) {
            let number = raddle_explore::races::number(block.frames[0], block.frames[1]);
            let known = slot.leaks as usize;
            if let Some(leak) = slot.leak[..known].iter_mut().find(|l| l.number == number) {
                leak.blocks += 1;
                leak.bytes += block.size as u64;
            } else if known < LEAKS {
                let (thread, bytes) = (heap::owner(block.at) as u64, block.size as u64);
                slot.leak[known] = Leak { number, blocks: 1, bytes, thread, frames: block.frames };
                slot.leaks += 1;
            }
        }
    }
}
